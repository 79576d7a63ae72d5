/// Learns of each verified purchase, in the form of RRVerificationController and RMStore.
///
/// `events()` reports more. Both methods may be called again for the same transaction.
public protocol PurchaseDelegate: AnyObject, Sendable {
    /// The purchase was verified: granted if it is valid, refused otherwise. It is stored by now, and the engine finishes its transaction
    /// when this method returns: if the process ends before, the next run calls it again.
    func didVerify(_ transaction: PaymentTransaction, isValid: Bool) async

    /// The purchase could not be verified now. Its transaction is not finished, and it is tried again.
    func didFailToVerify(_ transaction: PaymentTransaction, error: PurchaseError) async
}
