// swift-tools-version: 6.2
import Foundation
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// The adapters are a target of the package in the folder above, and see what it declares `package`. The package
/// manager names a package in a folder after the folder. `packageAccess: false` leaves out its own option, which would
/// be the last one.
let packageOfTheAdapters: String = {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let name = folder.lastPathComponent.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" }
    return String(name.first?.isNumber == true ? ["_"] + name.dropFirst() : name)
}()

/// What imports StoreKit gets the stand-in. The module has another name, because a module that is called StoreKit would
/// be found by whatever asks whether there is one, in the scratch folder that the packages share.
let standIn =
    strict + [
        .define("StoreKit27"),
        .unsafeFlags(["-module-alias", "StoreKit=StoreKitStandIn", "-package-name", packageOfTheAdapters]),
    ]

/// Targets of this package, and products of the two that it needs.
func needs(_ names: String...) -> [Target.Dependency] {
    let own = ["StoreKitStandIn", "StoreKitAdapters", "OtherLibrary"]
    return names.map { name in
        own.contains(name)
            ? .target(name: name) : .product(name: name, package: name == "Crypto" ? "swift-crypto" : "assay")
    }
}

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
        // A link to the sources that are shipped. The tests see what the adapters do not publish. An option of the
        // command would compile every dependency again.
        .target(
            name: "StoreKitAdapters", dependencies: needs("StoreKitStandIn", "PurchaseKit", "PurchaseVerification"),
            path: "Adapters", packageAccess: false, swiftSettings: standIn + [.unsafeFlags(["-enable-testing"])]),
        // The example app (a link to it) over both, as the tutorial of the app's side runs it.
        .executableTarget(
            name: "ExampleShop",
            dependencies: needs("StoreKitStandIn", "StoreKitAdapters", "PurchaseKit", "PurchaseVerification", "Crypto"),
            packageAccess: false, swiftSettings: standIn),
        // The first app of the tutorial, which needs no stand-in.
        .executableTarget(
            name: "FirstApp", dependencies: needs("PurchaseKit", "PurchaseKitSimulator"), swiftSettings: strict),
        // Names that other libraries of an app have.
        .target(name: "OtherLibrary", swiftSettings: strict),
        .testTarget(
            name: "StoreKitAdapterTests",
            dependencies: needs(
                "OtherLibrary", "StoreKitStandIn", "StoreKitAdapters", "PurchaseKit", "PurchaseKitSimulator",
                "PurchaseMessages", "PurchaseVerification", "TestSupport", "Crypto"),
            path: "Tests", packageAccess: false, swiftSettings: standIn),
    ]
)
