// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours is compiled in Swift 6 mode, and a warning stops the build.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "assay",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "PurchaseVerification", targets: ["PurchaseVerification"]),
        .library(name: "PurchaseAPI", targets: ["PurchaseAPI"]),
        .library(name: "PurchaseLedger", targets: ["PurchaseLedger"]),
        .library(name: "PurchaseServer", targets: ["PurchaseServer"]),
        .library(name: "AppStoreSimulator", targets: ["AppStoreSimulator"]),
        .executable(name: "assay", targets: ["assay"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        .target(
            name: "PurchaseVerification",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        .target(name: "PurchaseAPI", swiftSettings: strict),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .target(
            name: "PurchaseLedger",
            dependencies: [
                "CZlib",
                "PurchaseVerification",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "PurchaseServer",
            dependencies: [
                "PurchaseAPI",
                "PurchaseLedger",
                .product(name: "Yams", package: "Yams"),
                "PurchaseVerification",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "AppStoreSimulator",
            dependencies: [
                "PurchaseAPI",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            resources: [.embedInCode("Server/Resources")],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "assay",
            dependencies: [
                "AppStoreSimulator",
                "PurchaseAPI",
                "PurchaseLedger",
                "PurchaseServer",
                "PurchaseVerification",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "TestSupport",
            dependencies: ["AppStoreSimulator"],
            path: "Tests/TestSupport",
            swiftSettings: strict
        ),
        .target(
            name: "ServerTestSupport",
            dependencies: [
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Tests/ServerTestSupport",
            swiftSettings: strict
        ),
        .testTarget(
            name: "PurchaseVerificationTests",
            dependencies: [
                "AppStoreSimulator", "PurchaseVerification", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AppStoreSimulatorTests",
            dependencies: [
                "AppStoreSimulator", "PurchaseAPI", "ServerTestSupport", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PurchaseLedgerTests",
            dependencies: [
                "AppStoreSimulator", "PurchaseLedger", "PurchaseVerification", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["Databases"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PurchaseServerTests",
            dependencies: [
                "AppStoreSimulator", "PurchaseAPI", "PurchaseLedger", "PurchaseServer", "PurchaseVerification",
                "ServerTestSupport", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CommandLineTests",
            dependencies: ["assay", "TestSupport"],
            exclude: ["Transcripts"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CorpusTests",
            dependencies: ["PurchaseAPI", "PurchaseServer", "PurchaseVerification", "TestSupport"],
            swiftSettings: strict
        ),
    ]
)
