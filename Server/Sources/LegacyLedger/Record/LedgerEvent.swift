public import PurchaseVerification

/// Something that happened to an order, a purchase, a balance or a key.
public struct LedgerEvent: Sendable, Equatable {
    public var kind: Kind
    public var at: Timestamp
    public var app: String
    public var customerID: String?
    public var orderID: String?
    public var environment: String?
    public var transactionID: String?
    public var productID: String?
    public var quantity: Int64?
    /// What else there is to know, in words.
    public var detail: String?
    /// The submission that caused it.
    public var submissionID: String?

    /// What happened.
    public enum Kind: String, Sendable, CaseIterable {
        case orderCreated = "order_created"
        case orderPaid = "order_paid"
        case orderFulfilled = "order_fulfilled"
        case orderCancelled = "order_cancelled"
        case orderRefunded = "order_refunded"
        case purchaseGranted = "purchase_granted"
        case purchaseExtended = "purchase_extended"
        case purchaseMoved = "purchase_moved"
        case purchaseWithdrawn = "purchase_withdrawn"
        case withdrawalRecorded = "withdrawal_recorded"
        case balanceConsumed = "balance_consumed"
        case keyCreated = "key_created"
        case keyRevoked = "key_revoked"
    }

    init(
        _ kind: Kind, at: Timestamp, app: String, customerID: String? = nil, orderID: String? = nil,
        environment: String? = nil, transactionID: String? = nil, productID: String? = nil, quantity: Int64? = nil,
        detail: String? = nil, submissionID: String? = nil
    ) {
        self.kind = kind
        self.at = at
        self.app = app
        self.customerID = customerID
        self.orderID = orderID
        self.environment = environment
        self.transactionID = transactionID
        self.productID = productID
        self.quantity = quantity
        self.detail = detail
        self.submissionID = submissionID
    }
}

extension LedgerEvent {
    static let chain = HashChain(
        name: "events",
        columns: [
            .init(name: "kind", type: "TEXT NOT NULL"),
            .init(name: "at", type: "BIGINT NOT NULL"),
            .init(name: "app", type: "TEXT NOT NULL"),
            .init(name: "customer_id", type: "TEXT"),
            .init(name: "order_id", type: "TEXT"),
            .init(name: "environment", type: "TEXT"),
            .init(name: "transaction_id", type: "TEXT"),
            .init(name: "product_id", type: "TEXT"),
            .init(name: "quantity", type: "BIGINT"),
            .init(name: "detail", type: "TEXT"),
            .init(name: "submission_id", type: "TEXT"),
        ])

    var values: [LedgerValue] {
        [
            .text(kind.rawValue), .time(at), .text(app), .text(customerID), .text(orderID), .text(environment),
            .text(transactionID), .text(productID), .integer(quantity), .text(detail), .text(submissionID),
        ]
    }

    init(_ row: LedgerRow) throws(LedgerStorageError) {
        var reader = RowReader(row)
        kind = try reader.named(Kind.self)
        at = try reader.time()
        app = try reader.text()
        customerID = try reader.optionalText()
        orderID = try reader.optionalText()
        environment = try reader.optionalText()
        transactionID = try reader.optionalText()
        productID = try reader.optionalText()
        quantity = try reader.optionalInteger()
        detail = try reader.optionalText()
        submissionID = try reader.optionalText()
    }
}
