import PurchaseKit
import PurchaseKitStoreKit
import SwiftUI

@main
struct StoreKit2App: App {
    @StateObject private var purchases = PurchaseModel(
        PurchaseEngine(
            bundleID: "com.example.app", queue: StoreKit2Queue(), server: .shop, startsAsGuest: true))

    var body: some Scene {
        WindowGroup {
            Text(purchases.isActive("pro") ? "Pro" : "Basic").purchases(purchases)
        }
    }
}
