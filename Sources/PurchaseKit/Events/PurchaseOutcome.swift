/// The result of handling one transaction.
public enum PurchaseOutcome: Sendable, Equatable {
    /// Stored and finished. `isReplayed` if it was granted before.
    case granted(GrantedPurchase, isReplayed: Bool)
    /// Finished, and the customer may use nothing: the server's entitlement is not active. The code is its reason.
    case notCounted(PurchaseError)
    /// Finished without granting anything: a signed answer of the server refused it, or Apple revoked it.
    case refused(PurchaseError)
    /// Its signature is wrong as far as this device can tell, and there is no server to decide. Nothing is granted, and
    /// it is not finished.
    case invalid(PurchaseError)
    /// Not finished; it is tried again.
    case undetermined(PurchaseError)
    /// It waits for the customer, an approval or the bank.
    case pending
    /// The customer cancelled the payment.
    case cancelled
    /// The payment failed.
    case failed(PurchaseError)

    /// Whether the customer has the purchase.
    public var isGranted: Bool {
        if case .granted = self { true } else { false }
    }

    /// The code of the outcome, for logs.
    public var code: String {
        switch self {
        case .granted: "granted"
        case .notCounted(let error), .refused(let error), .invalid(let error), .undetermined(let error),
            .failed(let error):
            error.code.rawValue
        case .pending: "pending"
        case .cancelled: "cancelled"
        }
    }
}
