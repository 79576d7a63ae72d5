/// Learns of each verified purchase, in the form of RRVerificationController and RMStore.
///
/// Both methods are called one after the other, when the work on the transaction has ended, so they may call every
/// function of the engine. They may be called again for the same transaction. `PurchaseEngine.events()` reports more.
public protocol PurchaseDelegate: AnyObject, Sendable {
    /// The purchase was verified: it is valid if it was granted, and invalid if it gives the customer nothing. What was
    /// granted or refused is stored and finished by now; if the process ends before this method returns, the next run
    /// calls it again.
    func didVerify(_ transaction: PaymentTransaction, isValid: Bool) async

    /// The purchase could not be verified now, or was not paid. If it was paid, it is not finished, and is tried again.
    func didFailToVerify(_ transaction: PaymentTransaction, error: PurchaseError) async
}
