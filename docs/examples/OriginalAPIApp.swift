import PurchaseKit
import PurchaseKitStoreKit

final class OriginalAPIApp: PurchaseDelegate {
    let engine = PurchaseEngine(
        queue: OriginalQueue(), receipts: DeviceReceipt(),
        verifier: DeviceVerifier(app: AppIdentity(bundleID: "com.example.app"), device: AppleDevice()),
        server: nil, store: KeychainPurchaseStore(service: "com.example.app"), life: AppleAppLife())

    func launch() async {
        await engine.setDelegate(self)
        await engine.run()
    }
}
