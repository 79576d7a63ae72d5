// swift-tools-version: 6.2
import PackageDescription

/// If libssl-dev is missing, `ASSAY_TORTURE_OPENSSL=0` omits the comparison with OpenSSL.
let hasOpenSSL = Context.environment["ASSAY_TORTURE_OPENSSL"] != "0"

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let openSSLTargets: [Target] = [
    .systemLibrary(
        name: "CLibcrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
    .target(
        name: "OpenSSLOpinion", dependencies: ["CLibcrypto"], cSettings: [.treatAllWarnings(as: .error)],
        linkerSettings: [.linkedLibrary("crypto")]),
]

let package = Package(
    name: "assay-torture",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "torture", targets: ["torture"]),
        // Built by dev/fuzz.sh: it links libFuzzer, and the sanitizers must be named on the command line, so that the
        // core is instrumented as well.
        .executable(name: "fuzz", targets: ["fuzz"]),
    ],
    dependencies: [
        .package(name: "assay", path: ".."),
        // The same exact version as in the package above.
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
    ],
    targets: [
        .target(
            name: "HostileBytes",
            dependencies: [
                .product(name: "EvidenceMint", package: "assay"),
                .product(name: "PurchaseVerification", package: "assay"),
            ],
            swiftSettings: strict
        ),
        .target(name: "LibFuzzer", cSettings: [.treatAllWarnings(as: .error)]),
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "HostileBytes", "LibFuzzer",
                .product(name: "EvidenceMint", package: "assay"),
                .product(name: "PurchaseVerification", package: "assay"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "torture",
            dependencies: [
                "HostileBytes",
                .product(name: "EvidenceMint", package: "assay"),
                .product(name: "PurchaseVerification", package: "assay"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ] + (hasOpenSSL ? ["OpenSSLOpinion"] : []),
            swiftSettings: strict
        ),
    ] + (hasOpenSSL ? openSSLTargets : [])
)
