public import Foundation
public import PurchaseVerification

/// The filter of a list of claims. Fields that are `nil` do not restrict it.
public struct SubmissionFilter: Sendable, Equatable {
    public var customerID: String?
    public var orderID: UUID?
    public var transactionID: String?
    public var code: String?
    public var verdict: Verdict?
    /// The App Store's answer about the claim.
    public var appStore: AppStoreAnswerFilter?
    /// Received at this time or later.
    public var from: Timestamp?
    /// Received before this time.
    public var to: Timestamp?

    /// All claims.
    public init() {}
}
