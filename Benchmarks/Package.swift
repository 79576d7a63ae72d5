// swift-tools-version: 6.2
import PackageDescription

/// If libssl-dev is missing, `ASSAY_OPENSSL=0` omits what compares with OpenSSL.
let hasOpenSSL = Context.environment["ASSAY_OPENSSL"] != "0"

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .treatAllWarnings(as: .error), .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"), .enableUpcomingFeature("InternalImportsByDefault"),
]

/// The packages of products.
let packages = [
    "assay": ["EvidenceMint", "PurchaseVerification"],
    "assay-server": ["CPostgreSQL", "PurchaseLedger", "PurchaseServer"],
    "swift-crypto": ["Crypto", "CryptoExtras"],
    "hummingbird": ["Hummingbird", "HummingbirdCore"],
    "GRDB.swift": ["GRDB", "GRDBSQLite"],
    "swift-http-types": ["HTTPTypes"],
    "swift-log": ["Logging"],
    "swift-nio": ["NIOCore", "NIOFoundationCompat", "NIOHTTP1", "NIOPosix"],
    "swift-service-lifecycle": ["ServiceLifecycle"],
]

/// Products of other packages, and targets of this one.
func needs(_ names: [String]) -> [Target.Dependency] {
    names.filter { hasOpenSSL || !$0.hasPrefix("OpenSSL") }.map { name in
        guard let package = packages.first(where: { $0.value.contains(name) })?.key else { return .target(name: name) }
        return .product(name: name, package: package)
    }
}

func program(_ name: String, in folder: String = "Sources", _ names: String...) -> Target {
    .executableTarget(name: name, dependencies: needs(names), path: "\(folder)/\(name)", swiftSettings: strict)
}

func library(_ name: String, in folder: String = "Sources", _ names: String...) -> Target {
    .target(name: name, dependencies: needs(names), path: "\(folder)/\(name)", swiftSettings: strict)
}

/// A target in C; OpenSSL's libcrypto is linked to those that need it.
func inC(_ name: String, in folder: String = "Sources", openSSL: Bool = false) -> Target {
    .target(
        name: name, dependencies: openSSL ? ["CLibcrypto"] : [], path: "\(folder)/\(name)",
        cSettings: [.treatAllWarnings(as: .error)], linkerSettings: openSSL ? [.linkedLibrary("crypto")] : [])
}

let openSSL: [Target] = [
    .systemLibrary(
        name: "CLibcrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
    inC("OpenSSLReceipt", openSSL: true), inC("OpenSSLOpinion", in: "Torture", openSSL: true),
]

// A product is built alone, so that those of the core are built without Hummingbird and GRDB, and `fuzz` by dev/fuzz.sh
// only: it links libFuzzer, and the sanitizers must be named on the command line, so that the core is instrumented as
// well.
let package = Package(
    name: "assay-benchmarks",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "receipt-benchmark", targets: ["ReceiptBenchmark"]),
        .executable(name: "foundation-hello", targets: ["FoundationHello"]),
        .executable(name: "echo-server", targets: ["EchoServer"]),
        .executable(name: "ledger-benchmark", targets: ["LedgerBenchmark"]),
        .executable(name: "reference-loop", targets: ["ReferenceLoop"]),
        .executable(name: "import-generator", targets: ["ImportGenerator"]),
        .executable(name: "webhook-benchmark", targets: ["WebhookBenchmark"]),
        .executable(name: "large-database", targets: ["LargeDatabase"]),
        .executable(name: "torture", targets: ["torture"]),
        .executable(name: "fuzz", targets: ["fuzz"]),
    ],
    dependencies: [
        .package(name: "assay", path: ".."),
        .package(name: "assay-server", path: "../Server"),
        // The same exact version as in the packages above.
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.5.1"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        inC("AllocationCounter"), inC("LibFuzzer", in: "Torture"), program("FoundationHello"),
        program(
            "ReceiptBenchmark", "AllocationCounter", "EvidenceMint", "PurchaseVerification", "Crypto", "CryptoExtras",
            "OpenSSLReceipt"),
        library("SQLiteFloor", "GRDBSQLite"), program("ReferenceLoop", "SQLiteFloor"),
        library("BenchmarkShop", "EvidenceMint", "PurchaseLedger", "PurchaseVerification"),
        program(
            "EchoServer", "PurchaseServer", "HTTPTypes", "Hummingbird", "HummingbirdCore", "Logging", "NIOCore",
            "NIOFoundationCompat"),
        program("ImportGenerator", "EvidenceMint"),
        program(
            "WebhookBenchmark", "BenchmarkShop", "SQLiteFloor", "EvidenceMint", "PurchaseLedger", "PurchaseServer",
            "Logging", "NIOCore", "NIOHTTP1", "NIOPosix", "ServiceLifecycle"),
        program("LedgerBenchmark", "BenchmarkShop", "SQLiteFloor", "EvidenceMint", "CPostgreSQL", "PurchaseLedger"),
        program(
            "LargeDatabase", "BenchmarkShop", "SQLiteFloor", "EvidenceMint", "PurchaseLedger", "PurchaseVerification",
            "GRDB"),
        library("HostileBytes", in: "Torture", "EvidenceMint", "PurchaseVerification"),
        program("fuzz", in: "Torture", "HostileBytes", "LibFuzzer", "EvidenceMint", "PurchaseVerification"),
        program(
            "torture", in: "Torture", "HostileBytes", "EvidenceMint", "PurchaseVerification", "Crypto", "CryptoExtras",
            "OpenSSLOpinion"),
    ] + (hasOpenSSL ? openSSL : [])
)
