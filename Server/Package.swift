// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// Every target of ours is compiled in Swift 6 mode, and a warning stops the build.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// The products of other packages that targets need.
let products = [
    "assay": ["EvidenceMint", "PurchaseAPI", "PurchaseKit", "PurchaseVerification", "TestSupport", "TextFormats"],
    "swift-crypto": ["Crypto", "CryptoExtras"],
    "swift-argument-parser": ["ArgumentParser"],
    "swift-log": ["Logging"],
    "swift-metrics": ["Metrics"],
    "swift-nio": ["NIOCore", "NIOFoundationCompat", "NIOHTTP1", "NIOPosix", "NIOTLS"],
    "swift-nio-extras": ["NIOHTTPCompression", "NIOHTTPTypes", "NIOHTTPTypesHTTP1"],
    "swift-nio-ssl": ["NIOSSL"],
    "swift-http-types": ["HTTPTypes"],
    "hummingbird": ["Hummingbird", "HummingbirdCore", "HummingbirdTLS"],
    "swift-service-lifecycle": ["ServiceLifecycle", "UnixSignals"],
    "async-http-client": ["AsyncHTTPClient"],
    "GRDB.swift": ["GRDB", "GRDBSQLite"],
    "swift-mustache": ["Mustache"],
    "Yams": ["Yams"],
]

/// Products of other packages, and targets of this one.
func needs(_ names: [String]) -> [Target.Dependency] {
    names.map { name in
        guard let package = products.first(where: { $0.value.contains(name) })?.key else { return .target(name: name) }
        return .product(name: name, package: package)
    }
}

/// The tests of the kit see what it declares `package` (StandIn/Package.swift says how), and nothing of this package.
let testsOfKit = ["KitTestSupport", "kit-app", "PurchaseKitTests"]

func accessToKit(_ name: String) -> [SwiftSetting] {
    guard testsOfKit.contains(name) else { return [] }
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let text = folder.lastPathComponent.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" }
    let package = String(text.first?.isNumber == true ? ["_"] + text.dropFirst() : text)
    return [.unsafeFlags(["-package-name", package])]
}

/// - Parameter embeds: the folder of the files that are a part of the compiled module.
func module(_ name: String, path: String? = nil, embeds folder: String? = nil, _ names: String...) -> Target {
    .target(
        name: name, dependencies: needs(names), path: path, exclude: folder.map { [$0] } ?? [],
        packageAccess: !testsOfKit.contains(name), swiftSettings: strict + accessToKit(name),
        plugins: folder.map { _ in ["EmbedFiles"] })
}

func program(_ name: String, path: String? = nil, _ names: String...) -> Target {
    .executableTarget(
        name: name, dependencies: needs(names), path: path, packageAccess: !testsOfKit.contains(name),
        swiftSettings: strict + accessToKit(name))
}

/// Tests are not optimised in any configuration: what they call is, and compiling them optimised takes several times as
/// long. Nothing imports a test target, so its interface is not made in a pass of its own, and no debugger needs it.
/// Only test targets have unsafe flags, so packages that depend on this one are not refused.
func tests(_ name: String, exclude folder: String? = nil, _ names: String...) -> Target {
    .testTarget(
        name: name, dependencies: needs(names), exclude: folder.map { [$0] } ?? [],
        packageAccess: !testsOfKit.contains(name),
        swiftSettings: strict + accessToKit(name)
            + [.unsafeFlags(["-Onone", "-no-emit-module-separately-wmo", "-gnone"])])
}

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
        module("LedgerRules", "PurchaseVerification"),
        module(
            "PurchaseLedger", "CPostgreSQL", "CZlib", "LedgerRules", "PurchaseAPI", "PurchaseVerification",
            "TextFormats", "Crypto", "GRDB", "GRDBSQLite"),
        module(
            "AppStoreConnection", "PurchaseAPI", "PurchaseVerification", "AsyncHTTPClient", "Crypto", "NIOCore",
            "NIOHTTP1", "NIOHTTPCompression", "NIOPosix", "NIOSSL"),
        // What the server and the simulator share: a part of a connection, and the style of their pages.
        module("HTTPConnections", "HTTPTypes", "NIOCore", "NIOHTTP1", "NIOHTTPTypes"),
        // The pages for people who answer customers.
        module(
            "PurchaseConsole", "HTTPConnections", "PurchaseLedger", "PurchaseAPI", "PurchaseVerification",
            "TextFormats", "Crypto", "CryptoExtras", "Mustache", "NIOPosix"),
        module(
            "PurchaseServer", embeds: "Resources", "AppStoreConnection", "HTTPConnections", "PurchaseConsole",
            "PurchaseLedger", "PurchaseAPI", "PurchaseVerification", "Yams", "AsyncHTTPClient", "Crypto",
            "Hummingbird", "HummingbirdCore", "HummingbirdTLS", "Logging", "Metrics", "NIOCore", "NIOHTTP1",
            "NIOHTTPTypes", "NIOHTTPTypesHTTP1", "NIOPosix", "NIOSSL", "NIOTLS", "HTTPTypes", "ServiceLifecycle"),
        module(
            "AppStoreSimulator", embeds: "Server/Resources", "HTTPConnections", "EvidenceMint", "PurchaseAPI",
            "TextFormats", "AsyncHTTPClient", "Crypto", "GRDB", "HTTPTypes", "Hummingbird", "HummingbirdCore",
            "HummingbirdTLS", "Logging", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL", "ServiceLifecycle", "Yams"),
        program(
            "assay", "AppStoreConnection", "AppStoreSimulator", "BuildInformation", "PurchaseConsole",
            "PurchaseLedger", "PurchaseServer", "EvidenceMint", "PurchaseAPI", "PurchaseVerification", "TextFormats",
            "ArgumentParser", "Hummingbird", "Logging", "NIOCore", "NIOPosix", "ServiceLifecycle", "UnixSignals"),
        module(
            "ServerTestSupport", path: "Tests/ServerTestSupport", "HTTPTypes", "Hummingbird", "HummingbirdCore",
            "Logging", "NIOCore", "NIOHTTP1", "NIOHTTPTypes", "NIOHTTPTypesHTTP1", "NIOPosix", "ServiceLifecycle"),
        // Not PurchaseLedger: what it expects of the ledger must be worked out by other code.
        module("ExpectedEntitlements", path: "Tests/ExpectedEntitlements", "AppStoreSimulator"),
        // Nothing of the ledger either: what it expects is written from the documentation.
        module("WrittenRules", path: "Tests/WrittenRules"),
        // Not a test target, so that it is optimised: it decides millions of histories.
        module("SmallWorlds", path: "Tests/SmallWorlds", "LedgerRules", "WrittenRules", "PurchaseVerification"),
        tests("SmallWorldTests", "SmallWorlds", "WrittenRules"),
        tests(
            "StoreHistoryTests", "AppStoreSimulator", "ExpectedEntitlements", "PurchaseLedger", "ServerTestSupport",
            "EvidenceMint", "PurchaseVerification", "TestSupport"),
        tests(
            "NotificationDeliveryTests", "AppStoreConnection", "AppStoreSimulator", "PurchaseLedger", "PurchaseServer",
            "ServerTestSupport", "EvidenceMint", "PurchaseAPI", "PurchaseVerification", "TestSupport", "HTTPTypes",
            "Hummingbird", "Logging", "NIOCore", "NIOFoundationCompat"),
        tests(
            "AppStoreSimulatorTests", "AppStoreSimulator", "PurchaseServer", "ServerTestSupport", "EvidenceMint",
            "PurchaseAPI", "PurchaseVerification", "TestSupport", "Crypto", "HTTPTypes", "Hummingbird",
            "HummingbirdCore", "HummingbirdTLS", "Logging", "NIOCore", "NIOFoundationCompat", "NIOPosix", "NIOSSL"),
        // A device of the simulated store, for the tests of the kit and for their second process.
        module(
            "KitTestSupport", path: "Tests/KitTestSupport", "ServerTestSupport", "PurchaseKit", "PurchaseVerification",
            "HTTPTypes", "NIOCore"),
        // An app that ends itself at a step.
        program("kit-app", path: "Tests/KitApp", "KitTestSupport", "PurchaseKit", "PurchaseVerification", "Crypto"),
        tests(
            "PurchaseKitTests", "AppStoreSimulator", "KitTestSupport", "PurchaseLedger", "PurchaseServer",
            "ServerTestSupport", "kit-app", "EvidenceMint", "PurchaseAPI", "PurchaseKit", "PurchaseVerification",
            "TestSupport", "Crypto", "HTTPTypes", "Hummingbird", "Logging", "NIOCore", "NIOPosix"),
        // A second process for the tests of the ledger: it submits claims from files, and says what was acknowledged.
        program("ledger-writer", path: "Tests/LedgerWriter", "PurchaseLedger", "PurchaseVerification"),
        tests(
            "PurchaseLedgerTests", "PurchaseLedger", "WrittenRules", "ledger-writer", "EvidenceMint", "PurchaseAPI",
            "PurchaseVerification", "TestSupport", "Crypto", "GRDB", "GRDBSQLite"),
        tests(
            "PurchaseServerTests", "AppStoreConnection", "HTTPConnections", "PurchaseConsole", "PurchaseLedger",
            "PurchaseServer", "ServerTestSupport", "EvidenceMint", "PurchaseAPI", "PurchaseVerification",
            "TestSupport", "AsyncHTTPClient", "Crypto", "HTTPTypes", "Hummingbird", "Logging", "Metrics", "NIOCore",
            "NIOFoundationCompat", "NIOHTTP1", "NIOPosix", "NIOSSL", "Yams"),
        tests(
            "AppStoreConnectionTests", "AppStoreConnection", "AppStoreSimulator", "PurchaseLedger", "PurchaseServer",
            "ServerTestSupport", "PurchaseVerification", "EvidenceMint", "PurchaseAPI", "TestSupport", "Crypto",
            "HTTPTypes", "Hummingbird", "Logging", "NIOCore", "NIOFoundationCompat", "NIOHTTP1", "NIOHTTPCompression",
            "NIOPosix"),
        tests(
            "RecordedAnswerTests", "AppStoreConnection", "PurchaseLedger", "PurchaseServer", "EvidenceMint",
            "PurchaseAPI", "PurchaseVerification", "TestSupport"),
        tests("CommandLineTests", exclude: "Transcripts", "PurchaseServer", "assay", "EvidenceMint", "TestSupport"),
    ]
)
