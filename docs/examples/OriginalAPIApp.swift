import PurchaseKit
import PurchaseKitStoreKit

final class OriginalAPIApp: PurchaseDelegate {
    let engine = PurchaseEngine(
        queue: OriginalQueue(), receipts: DeviceReceipt(),
        verifier: DeviceVerifier(app: AppIdentity(bundleID: "com.example.app"), device: AppleDevice()), server: nil,
        store: KeychainPurchaseStore(service: "com.example.app"), life: AppleAppLife())

    func launch() async {
        await engine.setDelegate(self)
        await engine.run()
    }

    func didVerify(_ transaction: PaymentTransaction, isValid: Bool) async { print(transaction, isValid) }
    func didFailToVerify(_ transaction: PaymentTransaction, error: PurchaseError) async { print(transaction, error) }
}
