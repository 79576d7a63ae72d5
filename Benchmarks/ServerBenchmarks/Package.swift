// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// A package of its own, so that the other benchmarks are built without Hummingbird and GRDB.
let package = Package(
    name: "assay-server-benchmarks",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "echo-server", targets: ["EchoServer"]),
        .executable(name: "ledger-benchmark", targets: ["LedgerBenchmark"]),
        .executable(name: "import-generator", targets: ["ImportGenerator"]),
        .executable(name: "webhook-benchmark", targets: ["WebhookBenchmark"]),
        .executable(name: "large-database", targets: ["LargeDatabase"]),
    ],
    dependencies: [
        .package(name: "assay", path: "../.."),
        .package(name: "assay-server", path: "../../Server"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.5.1"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .target(
            name: "SQLiteFloor",
            dependencies: [.product(name: "GRDBSQLite", package: "GRDB.swift")],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "EchoServer",
            dependencies: [
                .product(name: "PurchaseServer", package: "assay-server"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "ImportGenerator",
            dependencies: [.product(name: "EvidenceMint", package: "assay")],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "WebhookBenchmark",
            dependencies: [
                .product(name: "EvidenceMint", package: "assay"),
                .product(name: "PurchaseLedger", package: "assay-server"),
                .product(name: "PurchaseServer", package: "assay-server"),
                .product(name: "PurchaseVerification", package: "assay"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "LedgerBenchmark",
            dependencies: [
                "SQLiteFloor",
                .product(name: "EvidenceMint", package: "assay"),
                .product(name: "CPostgreSQL", package: "assay-server"),
                .product(name: "PurchaseLedger", package: "assay-server"),
                .product(name: "PurchaseVerification", package: "assay"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "LargeDatabase",
            dependencies: [
                "SQLiteFloor",
                .product(name: "EvidenceMint", package: "assay"),
                .product(name: "PurchaseLedger", package: "assay-server"),
                .product(name: "PurchaseVerification", package: "assay"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict
        ),
    ]
)
