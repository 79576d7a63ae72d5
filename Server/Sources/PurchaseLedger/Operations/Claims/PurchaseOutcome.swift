public import PurchaseVerification

public import struct Foundation.UUID

/// The two verdicts of a claim.
public enum Verdict: String, Sendable, CaseIterable {
    case accepted
    case rejected
}

/// The answer to a claim.
public struct PurchaseOutcome: Sendable, Equatable {
    /// The journal entry.
    public var submissionID: UUID
    /// The hash of the entry's leaf in the Merkle log.
    public var leafHash: [UInt8]
    public var verdict: Verdict
    /// `accepted`, or the code of the rejection.
    public var code: String
    public var expected: String?
    public var found: String?
    public var sentence: String
    public var disposition: Disposition
    /// Whether the same customer claimed the transaction before.
    public var isReplayed: Bool
    /// By what it was claimed, if the code is `already_claimed`.
    public var claimedBy: PriorClaim?
    public var customerID: String?
    public var environment: AppStoreEnvironment?
    public var transactionID: String?
    public var originalTransactionID: String?
    public var productID: String?
    public var quantity: Int64?
    public var purchasedAt: Timestamp?
    public var expiresAt: Timestamp?
    public var price: PurchasePrice?
    public var offer: PurchaseOffer?
    /// The order that the transaction paid.
    public var orderID: UUID?
    public var orderStatus: OrderStatus?
    /// What the customer may use of the product now.
    public var entitlement: Entitlement?
}
