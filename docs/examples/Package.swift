// swift-tools-version: 6.2
import PackageDescription

// Compiles the programs of the documents with Xcode, as a client of the package (.github/workflows).
let package = Package(
    name: "assay-examples",
    platforms: [.iOS(.v15), .macOS(.v12), .macCatalyst(.v15), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)],
    products: [.library(name: "Examples", targets: ["Examples"])],
    dependencies: [.package(name: "assay", path: "../..")],
    targets: [
        .target(
            name: "Examples",
            dependencies: [
                .product(name: "PurchaseKit", package: "assay"),
                .product(name: "PurchaseKitStoreKit", package: "assay"),
            ],
            path: ".",
            sources: [
                "Connection.swift", "OriginalAPIApp.swift", "ProScreen.swift", "PurchaseActionQueue.swift",
                "StoreKit2App.swift",
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
        )
    ]
)
