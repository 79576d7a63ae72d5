#!/bin/sh
# Resolves a package that depends on ours and on jwt-kit, which depends on swift-crypto, too, and builds both: an app's backend has
# such a graph. An exact version of swift-crypto in ours would make it unsolvable.
set -eu
cd "$(dirname "$0")/.."
. dev/lib.sh
make_temporary_folder resolution
mkdir -p "$folder/Sources/both"
cat >"$folder/Package.swift" <<END
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "both", platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "assay", path: "$PWD"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.0.0"),
        // A version that is newer than the lowest of ours would be taken, too.
        .package(url: "https://github.com/apple/swift-crypto", "4.0.0"..<"6.0.0"),
    ],
    targets: [
        .executableTarget(
            name: "both",
            dependencies: [
                .product(name: "PurchaseVerification", package: "assay"), .product(name: "JWTKit", package: "jwt-kit"),
            ])
    ])
END
cat >"$folder/Sources/both/both.swift" <<'END'
import JWTKit
import PurchaseVerification

@main
struct Both {
    static func main() async { print(JWTKeyCollection.self, PurchaseVerifier.self) }
}
END
swift package --package-path "$folder" resolve
version=$(swift package --package-path "$folder" show-dependencies --format flatlist 2>/dev/null | grep -c . || true)
[ "$version" -gt 3 ] || fail "Only $version packages were resolved."
if [ "${1:-}" != --resolve ]; then
    swift build --package-path "$folder" --scratch-path .build-resolution
fi
echo "resolution: our package and jwt-kit resolve together"
