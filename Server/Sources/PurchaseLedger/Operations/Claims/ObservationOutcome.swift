import PurchaseVerification

public import struct Foundation.UUID

/// The result for evidence without a claim.
public struct ObservationOutcome: Sendable, Equatable {
    public var submissionID: UUID
    /// Whether it told nothing new beyond the daily budget. Then it is only counted, and there is no entry.
    public var isCounted = false
    /// Whether it is a notification that was received before. Then the entry is that of its first delivery, unless it
    /// was signed again.
    public var isRepeated = false
    /// `accepted`, or the core's code.
    public var code: String
    /// The app that observed it; `nil` if no app has its bundle id.
    public var app: String?
    /// The number of transactions that it states.
    public var transactions: Int
}
