public import PurchaseVerification

public import struct Foundation.UUID

/// The answer to a claim.
public struct PurchaseOutcome: Sendable, Equatable {
    /// The journal entry.
    public var submissionID: UUID
    /// The hash of the entry's leaf in the Merkle log.
    public var leafHash: [UInt8]
    /// Whether the claim was refused beyond the daily budget. Then it is only counted, and there is no entry.
    public var isCounted = false
    /// The reason why the claim was rejected; `nil` if it was accepted.
    public var rejection: Rejection?
    public var disposition: Disposition
    /// Whether the same customer claimed the transaction before.
    public var isReplayed: Bool
    /// The holder of the earlier claim, if the code is `already_claimed`.
    public var claimedBy: PriorClaim?
    public var customerID: String?
    /// The customer into whom the named one was merged; `nil` if the claim names none or they were not.
    public var mergedInto: String?
    public var environment: AppStoreEnvironment?
    public var transactionID: String?
    public var originalTransactionID: String?
    public var productID: String?
    public var quantity: Int64?
    public var purchasedAt: Timestamp?
    public var expiresAt: Timestamp?
    public var price: PurchasePrice?
    public var offer: PurchaseOffer?
    public var productKind: ProductKind?
    public var isFamilyShared = false
    /// The seats that the transaction has left; `nil` if it is not sold by the seat, and for members.
    public var seats: Int64?
    /// When the transaction became known.
    public var knownAt: Timestamp?
    /// The rule that gave it its owner.
    public var ownerReason: String?
    /// The order that the transaction paid.
    public var order: Order?
    /// The customer's current entitlement to the product.
    public var entitlement: Entitlement?
    /// When the App Store is asked again, if the claim waits for its answer.
    public var nextAttemptAt: Timestamp?
    /// The claim to check with the App Store; `nil` if none needs to be.
    public var asksAppStore: UUID?

    /// The id of the order that the transaction paid.
    public var orderID: UUID? { order?.id }
    /// The state of that order.
    public var orderStatus: OrderStatus? { order?.status }
    public var verdict: Verdict { rejection.map { $0.isUndetermined ? .undetermined : .rejected } ?? .accepted }
    /// `accepted`, or the code of the rejection.
    public var code: String { rejection?.code ?? DecisionCode.accepted.rawValue }
    public var expected: String? { rejection?.expected }
    public var found: String? { rejection?.found }
    /// The explanation of the code, as a sentence.
    public var sentence: String { rejection?.sentence ?? DecisionCode.accepted.sentence }
}
