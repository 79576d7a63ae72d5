public import Foundation

/// Something that happened. Events name a transaction and never contain its evidence.
///
/// An event can be missed, for example when the app ends. Use `PurchaseEngine.entitlements()` for what a customer may
/// use, not the sum of events.
public enum PurchaseEvent: Sendable, Equatable {
    /// The purchase is stored.
    case granted(PurchaseReport)
    /// The server accepted it, and it gives this customer nothing, such as a sandbox purchase of somebody who is no
    /// tester. Its transaction is finished.
    case notCounted(PurchaseReport, PurchaseError)
    /// Apple or the server refused it for this customer; its transaction is finished.
    case refused(PurchaseReport, PurchaseError)
    /// Its signature is wrong, as far as this device can tell without a server. It grants nothing, and its transaction
    /// is not finished: call `discard` if it should go.
    case invalid(PurchaseReport, PurchaseError)
    /// It could not be verified now; it is tried again, at this time at the latest.
    case undetermined(PurchaseReport, PurchaseError, nextAttempt: Date?)
    /// It waits for an approval, such as a parent's.
    case pending(PurchaseReport)
    /// The customer cancelled the payment.
    case cancelled(PurchaseReport)
    /// The payment failed.
    case failed(PurchaseReport, PurchaseError)
    /// A receipt must be refreshed, which may ask for a password: call `refreshAndRetry` when the customer asks for it.
    case refreshNeeded(PurchaseReport)
    /// It waits for its customer to sign in.
    case customerNeeded(PurchaseReport)
    /// A granted purchase was refunded, revoked or replaced by an upgrade.
    case revoked(PurchaseReport, PurchaseError)
    /// The paid time of a product has ended.
    case ended(productID: String)
    /// What the customer may use has changed.
    case entitlementsChanged([PurchaseEntitlement])
    /// A restore ended.
    case restored(RestoreSummary)
    /// The App Store asks the app to sell a product that the customer chose there, with an offer if they chose one.
    case promoted(productID: String, offer: PaymentOffer?)
    /// The app discarded it, or it was too old and the queue no longer has it.
    case discarded(PurchaseReport)
    /// The stored purchases were damaged, and the store begins anew.
    case storeSetAside(PurchaseError)
    /// The queue, the store or the server failed; it is tried again.
    case failedOutside(PurchaseError, PurchaseReport?)

    /// The name of the event, for logs.
    public var name: String {
        switch self {
        case .granted: "granted"
        case .notCounted: "not_counted"
        case .refused: "refused"
        case .invalid: "invalid"
        case .undetermined: "undetermined"
        case .pending: "pending"
        case .cancelled: "cancelled"
        case .failed: "failed"
        case .refreshNeeded: "refresh_needed"
        case .customerNeeded: "customer_needed"
        case .revoked: "revoked"
        case .ended: "ended"
        case .entitlementsChanged: "entitlements_changed"
        case .restored: "restored"
        case .promoted: "promoted"
        case .discarded: "discarded"
        case .storeSetAside: "store_set_aside"
        case .failedOutside: "failed_outside"
        }
    }
}
