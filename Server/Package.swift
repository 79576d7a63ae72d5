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

// What runs on servers and in tests: the ledger, the HTTP server, the simulator and the program. What apps link is the
// package above this folder.
let package = Package(
    name: "assay-server",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "PurchaseLedger", targets: ["PurchaseLedger"]),
        .library(name: "AppStoreConnection", targets: ["AppStoreConnection"]),
        .library(name: "PurchaseServer", targets: ["PurchaseServer"]),
        .library(name: "AppStoreSimulator", targets: ["AppStoreSimulator"]),
        .executable(name: "assay", targets: ["assay"]),
        .library(name: "CPostgreSQL", targets: ["CPostgreSQL"]),
    ],
    dependencies: [
        .package(name: "assay", path: ".."),
        .package(url: "https://github.com/apple/swift-crypto", "4.5.2"..<"5.0.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.9.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.30.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .target(name: "BuildInformation", swiftSettings: strict, plugins: ["RecordCommit"]),
        .plugin(name: "RecordCommit", capability: .buildTool()),
        .plugin(name: "EmbedFiles", capability: .buildTool()),
        // The rules of the ledger, pure functions: no database, no clock, no HTTP.
        .target(
            name: "LedgerRules",
            dependencies: [.product(name: "PurchaseVerification", package: "assay")],
            swiftSettings: strict
        ),
        .target(
            name: "PurchaseLedger",
            dependencies: [
                "CPostgreSQL", "CZlib", "LedgerRules",
                .product(name: "PurchaseAPI", package: "assay"),
                .product(name: "PurchaseVerification", package: "assay"),
                .product(name: "TextFormats", package: "assay"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "AppStoreConnection",
            dependencies: [
                .product(name: "PurchaseAPI", package: "assay"),
                .product(name: "PurchaseVerification", package: "assay"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: strict
        ),
        // What the server and the simulator share: a part of a connection, and the style of their pages.
        .target(
            name: "HTTPConnections",
            dependencies: [
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
            ],
            swiftSettings: strict
        ),
        // The pages for people who answer customers.
        .target(
            name: "PurchaseConsole",
            dependencies: [
                "HTTPConnections", "PurchaseLedger",
                .product(name: "PurchaseAPI", package: "assay"),
                .product(name: "PurchaseVerification", package: "assay"),
                .product(name: "TextFormats", package: "assay"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "PurchaseServer",
            dependencies: [
                "AppStoreConnection", "HTTPConnections", "PurchaseConsole", "PurchaseLedger",
                .product(name: "PurchaseAPI", package: "assay"),
                .product(name: "PurchaseVerification", package: "assay"),
                .product(name: "Yams", package: "Yams"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            exclude: ["Resources"],
            swiftSettings: strict,
            plugins: ["EmbedFiles"]
        ),
        .target(
            name: "AppStoreSimulator",
            dependencies: [
                "HTTPConnections",
                .product(name: "EvidenceMint", package: "assay"),
                .product(name: "PurchaseAPI", package: "assay"),
                .product(name: "TextFormats", package: "assay"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Yams", package: "Yams"),
            ],
            exclude: ["Server/Resources"],
            swiftSettings: strict,
            plugins: ["EmbedFiles"]
        ),
        .executableTarget(
            name: "assay",
            dependencies: [
                "AppStoreConnection",
                "AppStoreSimulator",
                "BuildInformation",
                "PurchaseConsole",
                "PurchaseLedger",
                "PurchaseServer",
                .product(name: "EvidenceMint", package: "assay"),
                .product(name: "PurchaseAPI", package: "assay"),
                .product(name: "PurchaseVerification", package: "assay"),
                .product(name: "TextFormats", package: "assay"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "ServerTestSupport",
            dependencies: [
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Tests/ServerTestSupport",
            swiftSettings: strict
        ),
        // Not PurchaseLedger: what it expects of the ledger must be worked out by other code.
        .target(
            name: "ExpectedEntitlements",
            dependencies: ["AppStoreSimulator"],
            path: "Tests/ExpectedEntitlements",
            swiftSettings: strict
        ),
        // Nothing of the ledger either: what it expects is written from the documentation.
        .target(name: "WrittenRules", path: "Tests/WrittenRules", swiftSettings: strict),
        // Not a test target, so that it is optimised: it decides millions of histories.
        .target(
            name: "SmallWorlds",
            dependencies: [
                "LedgerRules", "WrittenRules", .product(name: "PurchaseVerification", package: "assay"),
            ],
            path: "Tests/SmallWorlds",
            swiftSettings: strict
        ),
        .testTarget(name: "SmallWorldTests", dependencies: ["SmallWorlds", "WrittenRules"], swiftSettings: strict),
        .testTarget(
            name: "StoreHistoryTests",
            dependencies: [
                "AppStoreSimulator", "ExpectedEntitlements", "PurchaseLedger", "ServerTestSupport",
                .product(name: "EvidenceMint", package: "assay"),
                .product(name: "PurchaseVerification", package: "assay"),
                .product(name: "TestSupport", package: "assay"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "NotificationDeliveryTests",
            dependencies: [
                "AppStoreConnection", "AppStoreSimulator", "PurchaseLedger", "PurchaseServer", "ServerTestSupport",
                .product(name: "EvidenceMint", package: "assay"),
                .product(name: "PurchaseAPI", package: "assay"),
                .product(name: "PurchaseVerification", package: "assay"),
                .product(name: "TestSupport", package: "assay"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AppStoreSimulatorTests",
            dependencies: [
                "AppStoreSimulator", "PurchaseServer", "ServerTestSupport",
                .product(name: "EvidenceMint", package: "assay"),
                .product(name: "PurchaseAPI", package: "assay"),
                .product(name: "PurchaseVerification", package: "assay"),
                .product(name: "TestSupport", package: "assay"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: strict
        ),
        // A device of the simulated store, for the tests of the kit and for their second process.
        .target(
            name: "KitTestSupport",
            dependencies: [
                "ServerTestSupport",
                .product(name: "PurchaseKit", package: "assay"),
                .product(name: "PurchaseVerification", package: "assay"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Tests/KitTestSupport",
            swiftSettings: strict
        ),
        // An app that ends itself at a step.
        .executableTarget(
            name: "kit-app",
            dependencies: [
                "KitTestSupport",
                .product(name: "PurchaseKit", package: "assay"),
                .product(name: "PurchaseVerification", package: "assay"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            path: "Tests/KitApp",
            swiftSettings: strict
        ),
        .testTarget(
            name: "PurchaseKitTests",
            dependencies: [
                "AppStoreSimulator", "KitTestSupport", "PurchaseLedger", "PurchaseServer", "ServerTestSupport",
                "kit-app",
                .product(name: "EvidenceMint", package: "assay"),
                .product(name: "PurchaseAPI", package: "assay"),
                .product(name: "PurchaseKit", package: "assay"),
                .product(name: "PurchaseVerification", package: "assay"),
                .product(name: "TestSupport", package: "assay"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        // A second process for the tests of the ledger: it submits claims from files, and says what was acknowledged.
        .executableTarget(
            name: "ledger-writer",
            dependencies: [
                "PurchaseLedger",
                .product(name: "PurchaseVerification", package: "assay"),
            ],
            path: "Tests/LedgerWriter",
            swiftSettings: strict
        ),
        .testTarget(
            name: "PurchaseLedgerTests",
            dependencies: [
                "PurchaseLedger", "WrittenRules", "ledger-writer",
                .product(name: "EvidenceMint", package: "assay"),
                .product(name: "PurchaseAPI", package: "assay"),
                .product(name: "PurchaseVerification", package: "assay"),
                .product(name: "TestSupport", package: "assay"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PurchaseServerTests",
            dependencies: [
                "AppStoreConnection", "HTTPConnections", "PurchaseConsole", "PurchaseLedger", "PurchaseServer",
                "ServerTestSupport",
                .product(name: "EvidenceMint", package: "assay"),
                .product(name: "PurchaseAPI", package: "assay"),
                .product(name: "PurchaseVerification", package: "assay"),
                .product(name: "TestSupport", package: "assay"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AppStoreConnectionTests",
            dependencies: [
                "AppStoreConnection", "AppStoreSimulator", "PurchaseLedger", "PurchaseServer", "ServerTestSupport",
                .product(name: "PurchaseVerification", package: "assay"),
                .product(name: "EvidenceMint", package: "assay"),
                .product(name: "PurchaseAPI", package: "assay"),
                .product(name: "TestSupport", package: "assay"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "RecordedAnswerTests",
            dependencies: [
                "AppStoreConnection", "PurchaseLedger", "PurchaseServer",
                .product(name: "EvidenceMint", package: "assay"),
                .product(name: "PurchaseAPI", package: "assay"),
                .product(name: "PurchaseVerification", package: "assay"),
                .product(name: "TestSupport", package: "assay"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CommandLineTests",
            dependencies: [
                "PurchaseServer", "assay", .product(name: "EvidenceMint", package: "assay"),
                .product(name: "TestSupport", package: "assay"),
            ],
            exclude: ["Transcripts"],
            swiftSettings: strict
        ),
    ]
)

// Tests are not optimised in any configuration: what they call is, and compiling them optimised takes several times as
// long. Nothing imports a test target, so its interface is not made in a pass of its own, and no debugger needs it.
// Only test targets have unsafe flags, so packages that depend on this one are not refused.
for target in package.targets where target.type == .test {
    target.swiftSettings = strict + [.unsafeFlags(["-Onone", "-no-emit-module-separately-wmo", "-gnone"])]
}
