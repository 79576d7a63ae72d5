public import PurchaseVerification

public import struct Foundation.UUID

/// A purchase as recorded, whether or not it gives access now.
public struct RecordedPurchase: Sendable, Equatable {
    public var environment: AppStoreEnvironment
    public var transactionID: String
    public var originalTransactionID: String
    /// The owner; `nil` if it is held.
    public var customerID: String?
    public var productID: String
    /// The kind; `nil` if the settings do not agree with the facts.
    public var productKind: ProductKind?
    public var quantity: Int64
    public var purchasedAt: Timestamp?
    public var expiresAt: Timestamp?
    /// Apple's withdrawal, by the statements of all copies of the purchase together.
    public var withdrawal: Withdrawal?
    public var upgradedAt: Timestamp?
    public var price: PurchasePrice?
    /// Apple's number of the line of its order (`webOrderLineItemId`); only of periods of subscriptions.
    public var orderLineID: String?
    public var offer: PurchaseOffer?
    public var isFamilyShared: Bool
    /// The seats that the transaction has left, without those that were refunded; `nil` if it is not sold by the seat,
    /// and for members.
    public var seats: Int64?
    /// The rule that gave it its owner: `account_token`, `inherited_token`, `claim`, `transfer`, `operator_move`,
    /// `merge`.
    public var ownerReason: String?
    public var knownAt: Timestamp
    /// The order that it paid.
    public var orderID: UUID?
    /// The signed renewal info about its period; only for auto-renewable subscriptions.
    public var renewal: RenewalStatement?
}
