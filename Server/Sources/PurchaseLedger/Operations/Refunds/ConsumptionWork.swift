public import PurchaseVerification

public import struct Foundation.UUID

/// An answer that has to be sent to Apple.
public struct ConsumptionWork: Sendable, Equatable {
    /// The entry of the notification that asked.
    public var request: UUID
    public var app: String
    public var bundleID: String?
    public var environment: AppStoreEnvironment
    public var transactionID: String
    public var deadline: Timestamp
    /// The attempts so far that had no answer.
    public var attempts: Int
    public var answer: ConsumptionAnswer
    /// From what it was made.
    public var situation: ConsumptionSituation
}
