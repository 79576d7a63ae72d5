public import PurchaseVerification

public import struct Foundation.UUID

/// A change in the ledger, in one shape for all types. The JSON keys and the types are stable: webhooks carry the same.
public struct LedgerEvent: Sendable, Equatable {
    public var type: EventType
    public var at: Timestamp
    public var app: String
    /// The customer whose purchase or order changed.
    public var customerID: String?
    /// The owner before a transfer, or the customer before a merge.
    public var formerCustomerID: String?
    public var environment: String?
    public var productID: String?
    public var transactionID: String?
    public var originalTransactionID: String?
    public var orderID: UUID?
    /// Units that were granted, withdrawn, given back or consumed.
    public var units: Int64?
    /// The balance afterwards.
    public var balance: Int64?
    /// Units that the customer consumed and Apple withdrew, in all, afterwards.
    public var shortfall: Int64?
    /// When the access that the event is about ends.
    public var until: Timestamp?
    /// The reason: of an operator's act, or the fields that contradict each other.
    public var reason: String?

    /// An event with nothing but its type.
    init(_ type: EventType, at: Timestamp, app: String) {
        self.type = type
        self.at = at
        self.app = app
    }
}

/// The types of events. Expiry is no event: time alone makes it.
public enum EventType: String, Sendable, CaseIterable {
    /// A purchase has its first owner.
    case granted
    /// A further period of a subscription has an owner.
    case renewed
    /// The App Store extended a period.
    case extended
    /// A purchase has another owner.
    case transferred
    /// Apple withdrew a purchase or part of it.
    case revoked
    /// A refund was reversed, or part of it.
    case reversed
    /// An upgrade ended a period.
    case upgraded
    /// The renewal information of a subscription changed: grace, billing retry, or the next product.
    case renewalChanged = "renewal_changed"
    /// Evidence disagrees with other evidence about the same transaction.
    case contradicted
    case consumed
    case orderCreated = "order_created"
    case orderPaid = "order_paid"
    case orderFulfilled = "order_fulfilled"
    case orderCancelled = "order_cancelled"
    case orderRefunded = "order_refunded"
    /// An order waits for its payment again: its purchase went to another customer, or to another order that a claim named.
    case orderReopened = "order_reopened"
    /// The refund of an order's purchase was reversed.
    case orderRestored = "order_restored"
    case handGranted = "hand_granted"
    case handRevoked = "hand_revoked"
    case handLifted = "hand_lifted"
    case customerMerged = "customer_merged"
    /// A customer was erased. It names nobody.
    case customerErased = "customer_erased"
    case tokenAssigned = "token_assigned"
    /// A product was registered, so what was known of it counts now.
    case registered
    /// Newer rules, or a repair, give another result than before.
    case corrected
}

/// The JSON form of an event.
struct EventBody: Codable, Sendable {
    var type: String
    var at: String
    var app: String
    var customer_id: String?
    var former_customer_id: String?
    var environment: String?
    var product_id: String?
    var transaction_id: String?
    var original_transaction_id: String?
    var order_id: String?
    var units: Int64?
    var balance: Int64?
    var shortfall: Int64?
    var until: String?
    var reason: String?
    var entry_id: String
}
