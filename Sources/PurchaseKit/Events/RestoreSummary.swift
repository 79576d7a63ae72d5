import Foundation

/// The result of a restore: every restored transaction is in one of the three lists, by its id.
public struct RestoreSummary: Sendable, Equatable {
    public var granted: [GrantedPurchase] = []
    /// Refused, with the reason.
    public var refused: [String: PurchaseError] = [:]
    /// Could not be verified now; tried again later.
    public var undetermined: [String: PurchaseError] = [:]
    /// Why nothing could be restored; `nil` if the restore took place.
    public var error: PurchaseError?

    /// An empty summary.
    public init() {}
}
