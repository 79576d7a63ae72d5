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

/// The systems without CryptoKit. Apps for Apple's systems link Apple's frameworks and no code of others.
let withoutCryptoKit: TargetDependencyCondition? = .when(platforms: [.linux, .android, .windows, .openbsd])

/// Products of swift-crypto.
func crypto(_ names: String..., condition: TargetDependencyCondition? = nil) -> [Target.Dependency] {
    names.map { .product(name: $0, package: "swift-crypto", condition: condition) }
}

// What apps link. The server, the simulator and the program are the package in Server/, because `platforms` holds for a
// whole package, and because SwiftPM reads only this manifest when somebody depends on this repository.
let package = Package(
    name: "assay",
    defaultLocalization: "en",
    platforms: [.iOS(.v15), .macOS(.v12), .macCatalyst(.v15), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)],
    products: [
        .library(name: "PurchaseVerification", targets: ["PurchaseVerification"]),
        .library(name: "PurchaseMessages", targets: ["PurchaseMessages"]),
        // What only servers use of the interface.
        .library(name: "PurchaseAPI", targets: ["PurchaseAPI"]),
        .library(name: "PurchaseKit", targets: ["PurchaseKit"]),
        .library(name: "PurchaseKitStoreKit", targets: ["PurchaseKitStoreKit"]),
        // For debug builds and previews: the queue of a simulated store.
        .library(name: "PurchaseKitSimulator", targets: ["PurchaseKitSimulator"]),
        .library(name: "EvidenceMint", targets: ["EvidenceMint"]),
        // For the simulator, which never imports the core.
        .library(name: "TextFormats", targets: ["TextFormats"]),
        // For the tests of the package in Server/, which share the minted world and the reading of the corpus.
        .library(name: "TestSupport", targets: ["TestSupport"]),
    ],
    traits: [
        .trait(
            name: "StoreKit27",
            description: "Seats, their invitations, and billing plans: what needs the SDK of iOS 27.3, Xcode 27.3.")
    ],
    dependencies: [
        // A range, because an exact version would make the graphs of other packages unsolvable.
        .package(url: "https://github.com/apple/swift-crypto", "4.5.2"..<"5.0.0")
    ],
    targets: [
        // One loop of processor instructions that Swift cannot name (docs/decisions.md, 57).
        .target(name: "CBase64", cSettings: [.treatAllWarnings(as: .error)]),
        .target(name: "TextFormats", dependencies: ["CBase64"], swiftSettings: strict),
        .target(
            name: "PurchaseVerification",
            dependencies: ["TextFormats"] + crypto("Crypto", "CryptoExtras", condition: withoutCryptoKit),
            swiftSettings: strict),
        .target(name: "PurchaseMessages", swiftSettings: strict),
        .target(name: "PurchaseAPI", dependencies: ["PurchaseMessages"], swiftSettings: strict),
        .target(
            name: "PurchaseKit",
            dependencies: ["PurchaseMessages", "PurchaseVerification"] + crypto("Crypto", condition: withoutCryptoKit),
            resources: [.copy("PrivacyInfo.xcprivacy"), .process("Localizable.xcstrings")], swiftSettings: strict),
        // Empty where there is no StoreKit. Apple deprecates parts of it with newer systems, which must not stop
        // anybody's build.
        .target(
            name: "PurchaseKitStoreKit", dependencies: ["PurchaseKit", "PurchaseVerification"],
            swiftSettings: strict + [.treatWarning("DeprecatedDeclaration", as: .warning)]),
        .target(
            name: "PurchaseKitSimulator", dependencies: ["PurchaseKit", "PurchaseVerification"], swiftSettings: strict),
        .target(name: "EvidenceMint", dependencies: crypto("Crypto", "CryptoExtras"), swiftSettings: strict),
        .target(
            name: "TestSupport", dependencies: ["EvidenceMint"], path: "Tests/TestSupport", swiftSettings: strict),
        .testTarget(
            name: "PurchaseVerificationTests",
            dependencies: ["EvidenceMint", "PurchaseVerification", "TestSupport", "TextFormats"]
                + crypto("Crypto", "CryptoExtras")),
        .testTarget(name: "PurchaseAPITests", dependencies: ["PurchaseAPI"]),
        .testTarget(name: "EvidenceMintTests", dependencies: ["EvidenceMint", "TestSupport"] + crypto("Crypto")),
        // The kit alone, with a server and an App Store of its own: quick, and without the package in Server/.
        .testTarget(
            name: "PurchaseKitRuleTests",
            dependencies: ["EvidenceMint", "PurchaseKit", "PurchaseMessages", "PurchaseVerification", "TestSupport"]
                + crypto("Crypto")),
        .testTarget(name: "CorpusTests", dependencies: ["PurchaseAPI", "PurchaseVerification", "TestSupport"]),
    ]
)

// Tests are not optimised in any configuration: what they call is, and compiling them optimised takes several times as
// long. Nothing imports a test target, so its interface is not made in a pass of its own, and no debugger needs it.
// Only test targets have unsafe flags, so packages that depend on this one are not refused.
for target in package.targets where target.type == .test {
    target.swiftSettings = strict + [.unsafeFlags(["-Onone", "-no-emit-module-separately-wmo", "-gnone"])]
}
