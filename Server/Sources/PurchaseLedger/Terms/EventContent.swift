public import PurchaseVerification

public import struct Foundation.UUID

/// The content of an event, in one format for all types.
public struct EventContent: Sendable, Equatable {
    /// The stable word of an `EventType`.
    public var type: String
    public var at: Timestamp
    public var app: String
    public var customerID: String?
    public var formerCustomerID: String?
    /// The owner of a purchase that the customer claimed.
    public var ownerCustomerID: String?
    public var environment: String?
    /// Whether purchases of the environment count for the customer, by the settings as they are now.
    public var counts: Bool?
    public var productID: String?
    public var transactionID: String?
    public var originalTransactionID: String?
    public var orderID: UUID?
    public var units: Int64?
    public var balance: Int64?
    public var shortfall: Int64?
    public var until: Timestamp?
    public var reason: String?
    public var submissionID: String?
    /// The price of the transaction, in thousandths of the currency, as signed.
    public var price: Int64?
    public var currency: String?
    /// The names of the fields that changed (`RenewalChange.Field`).
    public var changed: [String]?
    public var renewal: RenewalChange.Signed?
    public var formerRenewal: RenewalChange.Signed?
    public var entryID: UUID
}
