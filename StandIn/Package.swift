// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// What imports StoreKit gets the stand-in. The module has another name, because a module that is called StoreKit would
/// be found by whatever asks whether there is one, in the scratch folder that the packages share.
let standIn = strict + [.unsafeFlags(["-module-alias", "StoreKit=StoreKitStandIn"])]

// Compiles and runs the StoreKit adapters where there is no StoreKit.
let package = Package(
    name: "assay-stand-in",
    platforms: [.macOS(.v12)],
    products: [
        .executable(name: "example-shop", targets: ["ExampleShop"]),
        .executable(name: "first-app", targets: ["FirstApp"]),
    ],
    dependencies: [
        .package(name: "assay", path: ".."),
        .package(url: "https://github.com/apple/swift-crypto", "4.5.2"..<"5.0.0"),
    ],
    targets: [
        // The declarations that the adapters use, as a client of the simulator.
        .target(name: "StoreKitStandIn", path: "Sources/StoreKit", swiftSettings: strict),
        // A link to the sources that are shipped.
        .target(
            name: "StoreKitAdapters",
            dependencies: [
                "StoreKitStandIn",
                .product(name: "PurchaseKit", package: "assay"),
                .product(name: "PurchaseVerification", package: "assay"),
            ],
            path: "Adapters",
            // The tests see what the adapters do not publish. An option of the command would compile every dependency
            // again.
            swiftSettings: standIn + [.unsafeFlags(["-enable-testing"])]
        ),
        // The example app (a link to it) over both, as the tutorial of the app's side runs it.
        .executableTarget(
            name: "ExampleShop",
            dependencies: [
                "StoreKitStandIn", "StoreKitAdapters",
                .product(name: "PurchaseKit", package: "assay"),
                .product(name: "PurchaseVerification", package: "assay"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: standIn
        ),
        // The first app of the tutorial, which needs no stand-in.
        .executableTarget(
            name: "FirstApp",
            dependencies: [
                .product(name: "PurchaseKit", package: "assay"),
                .product(name: "PurchaseKitSimulator", package: "assay"),
            ],
            swiftSettings: strict
        ),
        // Names that other libraries of an app have.
        .target(name: "OtherLibrary", swiftSettings: strict),
        .testTarget(
            name: "StoreKitAdapterTests",
            dependencies: [
                "OtherLibrary", "StoreKitStandIn", "StoreKitAdapters",
                .product(name: "PurchaseKit", package: "assay"),
                .product(name: "PurchaseKitSimulator", package: "assay"),
                .product(name: "PurchaseMessages", package: "assay"),
                .product(name: "PurchaseVerification", package: "assay"),
                .product(name: "TestSupport", package: "assay"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            path: "Tests",
            swiftSettings: standIn
        ),
    ]
)
