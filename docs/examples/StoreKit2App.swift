import PurchaseKit
import PurchaseKitStoreKit
import SwiftUI

@main
struct StoreKit2App: App {
    @StateObject private var purchases = PurchaseModel(
        PurchaseEngine(
            queue: StoreKit2Queue(),
            verifier: DeviceVerifier(app: AppIdentity(bundleID: "com.example.app"), device: AppleDevice()),
            server: .shop, store: KeychainPurchaseStore(service: "com.example.app"), life: AppleAppLife()))

    var body: some Scene { WindowGroup { Text(purchases.isActive("pro") ? "Pro" : "Basic").purchases(purchases) } }
}
