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

    /// An empty summary.
    public init() {}
}
