public import Foundation

/// Something that happened. Events name a transaction and never contain its evidence.
///
/// An event can be missed, for example when the app ends. Use `PurchaseEngine.entitlements()` for what a customer may use, not
/// the sum of events.
public struct PurchaseEvent: Sendable {
    public let kind: Kind
    public let transactionID: String?
    public let productID: String?
    /// The code of the outcome: `accepted`, or the reason.
    public let code: PurchaseError.Code?
    public let error: PurchaseError?
    /// The submission in the server's record.
    public let submissionID: String?
    /// The number of attempts.
    public let attempt: Int?
    /// The time of the next attempt.
    public let nextAttempt: Date?
    /// The summary; only of `restored`.
    public let summary: RestoreSummary?

    /// The kind of the event.
    public enum Kind: String, Sendable, CaseIterable {
        /// The purchase is stored.
        case granted
        /// Apple or the server refused it for this customer; its transaction is finished.
        case refused
        /// It could not be verified now; it is tried again.
        case undetermined
        /// It waits for an approval, such as a parent's.
        case pending
        /// The payment failed or was cancelled.
        case failed
        /// A receipt must be refreshed, which may ask for a password: call `refreshAndRetry` when the customer asks for it.
        case refreshNeeded = "refresh_needed"
        /// It waits for a customer to sign in.
        case customerNeeded = "customer_needed"
        /// A granted purchase was refunded, revoked or replaced by an upgrade.
        case revoked
        /// A restore ended.
        case restored
        /// The App Store asks the app to sell a product that the customer chose there.
        case promoted
        /// The queue or the store failed; it is tried again.
        case failedOutside = "failed_outside"
    }

    init(
        _ kind: Kind, _ transaction: PaymentTransaction? = nil, productID: String? = nil,
        code: PurchaseError.Code? = nil, error: PurchaseError? = nil, submissionID: String? = nil,
        attempt: Int? = nil, nextAttempt: Date? = nil, summary: RestoreSummary? = nil
    ) {
        self.kind = kind
        transactionID = transaction?.transactionID
        self.productID = transaction?.productID ?? productID
        self.code = code ?? error?.code
        self.error = error
        self.submissionID = submissionID
        self.attempt = attempt
        self.nextAttempt = nextAttempt
        self.summary = summary
    }
}
