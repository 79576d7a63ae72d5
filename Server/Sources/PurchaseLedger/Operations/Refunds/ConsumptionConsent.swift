public import PurchaseVerification

/// A customer's answer to the question whether their use of purchases may be told to Apple.
public struct ConsumptionConsent: Sendable, Equatable {
    public var isGiven: Bool
    public var statedAt: Timestamp
    /// The customer into whom the named one was merged; `nil` if they were not.
    public var mergedInto: String?

    init(_ row: ConsumptionConsentRow, _ mergedInto: String?) {
        isGiven = row.isGiven
        statedAt = row.statedAt
        self.mergedInto = mergedInto
    }
}
