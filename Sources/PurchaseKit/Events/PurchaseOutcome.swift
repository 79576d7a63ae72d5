import Foundation

/// The result of handling one transaction.
public enum PurchaseOutcome: Sendable, Equatable {
    /// Stored and finished. `isReplayed` if it was granted before.
    case granted(GrantedPurchase, isReplayed: Bool)
    /// Finished without granting anything.
    case refused(PurchaseError)
    /// Not finished; it is tried again.
    case undetermined(PurchaseError)
    /// It waits for the customer, an approval or the bank.
    case pending
    /// The customer did not pay.
    case failed(PurchaseError)

    /// Whether the customer has the purchase.
    public var isGranted: Bool {
        if case .granted = self { true } else { false }
    }

    /// The code of the outcome, for logs.
    public var code: String {
        switch self {
        case .granted: "granted"
        case .refused(let error), .undetermined(let error), .failed(let error): error.code.rawValue
        case .pending: "pending"
        }
    }
}
