public import Foundation

/// Something that happened. Events name a transaction and never contain its evidence.
///
/// An event can be missed. `PurchaseEngine.entitlements()` says what a customer may use, not the sum of events.
public enum PurchaseEvent: Sendable, Equatable {
    /// The purchase is stored.
    case granted(PurchaseReport)
    /// Finished, and it gives this customer nothing, such as a sandbox purchase of somebody who is no tester.
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
    case cancelled(PurchaseReport)
    case failed(PurchaseReport, PurchaseError)
    /// A receipt must be refreshed, which may ask for a password: call `refreshAndRetry` when the customer asks for it.
    case refreshNeeded(PurchaseReport)
    /// It waits for its customer to sign in.
    case customerNeeded(PurchaseReport)
    /// Somebody signed in with `signIn(_:)`, which hands nothing over, and a guest keeps purchases: the guest of this
    /// device, or one who was handed to this customer while a purchase was under way. Call `signIn(_:handingOver:)`.
    case guestKept
    /// A granted purchase was refunded, revoked or replaced by an upgrade.
    case revoked(PurchaseReport, PurchaseError)
    /// The paid time of a product has ended.
    case ended(productID: String)
    /// What the customer may use has changed.
    case entitlementsChanged([PurchaseEntitlement])
    case restored(RestoreSummary)
    /// The App Store asks the app to sell a product that the customer chose there, with an offer if they chose one.
    case promoted(productID: String, offer: PaymentOffer?)
    /// The app discarded it, or it was too old and the queue no longer has it.
    case discarded(PurchaseReport)
    /// The stored purchases were damaged, and the store begins anew.
    case storeSetAside(PurchaseError)
    /// The queue, the store or the server failed; it is tried again.
    case failedOutside(PurchaseError, PurchaseReport?)

    public var name: String { parts.name }

    /// Its name, the transaction that it is about, and its error.
    var parts: (name: String, report: PurchaseReport?, error: PurchaseError?) {
        switch self {
        case .granted(let report): ("granted", report, nil)
        case .notCounted(let report, let error): ("not_counted", report, error)
        case .refused(let report, let error): ("refused", report, error)
        case .invalid(let report, let error): ("invalid", report, error)
        case .undetermined(let report, let error, nextAttempt: _): ("undetermined", report, error)
        case .pending(let report): ("pending", report, nil)
        case .cancelled(let report): ("cancelled", report, nil)
        case .failed(let report, let error): ("failed", report, error)
        case .refreshNeeded(let report): ("refresh_needed", report, nil)
        case .customerNeeded(let report): ("customer_needed", report, nil)
        case .guestKept: ("guest_kept", nil, nil)
        case .revoked(let report, let error): ("revoked", report, error)
        case .ended(let productID): ("ended", PurchaseReport(nil, productID), nil)
        case .entitlementsChanged: ("entitlements_changed", nil, nil)
        case .restored(let summary): ("restored", nil, summary.error)
        case .promoted(let productID, _): ("promoted", PurchaseReport(nil, productID), nil)
        case .discarded(let report): ("discarded", report, nil)
        case .storeSetAside(let error): ("store_set_aside", nil, error)
        case .failedOutside(let error, let report): ("failed_outside", report, error)
        }
    }
}

/// The transaction that an event is about.
public struct PurchaseReport: Sendable, Equatable {
    public let transactionID: String?
    public let productID: String
    /// The submission in the server's record.
    public let submissionID: String?
    public let attempt: Int?

    /// A report, for the tests of an app.
    public init(_ transactionID: String?, _ productID: String, submissionID: String? = nil, attempt: Int? = nil) {
        (self.transactionID, self.productID) = (transactionID, productID)
        (self.submissionID, self.attempt) = (submissionID, attempt)
    }

    init(_ transaction: PaymentTransaction) { self.init(transaction.transactionID, transaction.productID) }

    init(_ purchase: GrantedPurchase) { self.init(purchase.key.transactionID, purchase.productID) }

    init(_ entry: OutboxEntry, submissionID: String? = nil) {
        self.init(
            entry.transaction.transactionID, entry.transaction.productID, submissionID: submissionID,
            attempt: entry.attempts + 1)
    }
}

/// The result of a restore: every restored transaction is in one of the lists, by its id.
public struct RestoreSummary: Sendable, Equatable {
    public var granted: [GrantedPurchase] = []
    /// Accepted, and of no use to this customer, with the reason.
    public var notCounted: [String: PurchaseError] = [:]
    /// Refused, with the reason.
    public var refused: [String: PurchaseError] = [:]
    /// Could not be verified now; tried again later.
    public var undetermined: [String: PurchaseError] = [:]
    /// Why nothing could be restored; `nil` if the restore took place. The code is `paymentCancelled` if the customer
    /// left the sign-in to the App Store: then there is nothing to tell them.
    public var error: PurchaseError?

    public init() {}
}

/// Learns of each verified purchase, in the form of RRVerificationController and RMStore.
///
/// Both methods are called one after the other, when the work on the transaction has ended, so they may call every
/// function of the engine. They may be called again for the same transaction. `PurchaseEngine.events()` reports more.
public protocol PurchaseDelegate: AnyObject, Sendable {
    /// The purchase was verified: it is valid if it was granted, and invalid if it gives the customer nothing. By now
    /// it is stored and finished; if the process ends before this method returns, the next run calls it again.
    func didVerify(_ transaction: PaymentTransaction, isValid: Bool) async

    /// The purchase could not be verified now, or was not paid. If it was paid, it is not finished, and is tried again.
    func didFailToVerify(_ transaction: PaymentTransaction, error: PurchaseError) async
}
