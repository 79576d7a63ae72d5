import PurchaseKit
import PurchaseKitStoreKit

final class OriginalAPIApp: PurchaseDelegate {
    let engine = PurchaseEngine(bundleID: "com.example.app", queue: OriginalQueue(), server: nil)

    func launch() async {
        await engine.setDelegate(self)
        await engine.run()
    }

    func didVerify(_ transaction: PaymentTransaction, isValid: Bool) async { print(transaction, isValid) }
    func didFailToVerify(_ transaction: PaymentTransaction, error: PurchaseError) async { print(transaction, error) }
}
