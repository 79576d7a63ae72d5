// swift-tools-version: 6.2
import PackageDescription

/// If libssl-dev is missing, `ASSAY_BENCH_OPENSSL=0` omits the OpenSSL row.
let hasOpenSSL = Context.environment["ASSAY_BENCH_OPENSSL"] != "0"

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
        name: "OpenSSLReceipt", dependencies: ["CLibcrypto"], cSettings: [.treatAllWarnings(as: .error)],
        linkerSettings: [.linkedLibrary("crypto")]),
]

let package = Package(
    name: "assay-benchmarks",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "receipt-benchmark", targets: ["ReceiptBenchmark"]),
        .executable(name: "foundation-hello", targets: ["FoundationHello"]),
    ],
    dependencies: [
        .package(name: "assay", path: ".."),
        // The same exact version as in the package above.
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
    ],
    targets: [
        .target(name: "AllocationCounter", cSettings: [.treatAllWarnings(as: .error)]),
        .executableTarget(name: "FoundationHello", swiftSettings: strict),
        .executableTarget(
            name: "ReceiptBenchmark",
            dependencies: [
                "AllocationCounter",
                .product(name: "EvidenceMint", package: "assay"),
                .product(name: "PurchaseVerification", package: "assay"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ] + (hasOpenSSL ? ["OpenSSLReceipt"] : []),
            swiftSettings: strict
        ),
    ] + (hasOpenSSL ? openSSLTargets : [])
)
