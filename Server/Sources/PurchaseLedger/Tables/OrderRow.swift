import PurchaseVerification

import struct Foundation.UUID

/// An order.
struct OrderRow: TableRow {
    static let table = Table(
        "orders", key: "order_key",
        columns: [
            "order_id", "app_key", "customer_key", "product_key", "quantity", "environment", "token", "metadata",
            "created_at", "expires_at", "status", "paid_by", "paid_at", "fulfilled_at", "closed_at", "accepts_renewal",
            "fulfilled_units",
        ])

    var key: Int64
    var id: UUID
    var appKey: Int64
    var customerKey: Int64
    var productKey: Int64
    var quantity: Int64
    /// The environment that the order names.
    var environment: Int64?
    var token: UUID
    var metadata: String?
    var createdAt: Timestamp
    var expiresAt: Timestamp
    /// The state; never `expired`, which depends on the time.
    var status: OrderStatus
    var paidBy: Int64?
    var paidAt: Timestamp?
    var fulfilledAt: Timestamp?
    var closedAt: Timestamp?
    /// Whether an automatic renewal pays it, although no claim names it.
    var acceptsRenewal = false
    /// Units that were delivered.
    var fulfilledUnits: Int64 = 0

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        key = try reader.integer()
        id = try reader.id()
        appKey = try reader.integer()
        customerKey = try reader.integer()
        productKey = try reader.integer()
        quantity = try reader.integer()
        environment = try reader.optionalInteger()
        token = try reader.id()
        metadata = try reader.optionalText()
        createdAt = try reader.time()
        expiresAt = try reader.time()
        status = try reader.named(OrderStatus.self)
        paidBy = try reader.optionalInteger()
        paidAt = try reader.optionalTime()
        fulfilledAt = try reader.optionalTime()
        closedAt = try reader.optionalTime()
        acceptsRenewal = try reader.integer() != 0
        fulfilledUnits = try reader.integer()
    }

    init(
        id: UUID, appKey: Int64, customerKey: Int64, productKey: Int64, quantity: Int64, environment: Int64?,
        acceptsRenewal: Bool = false, token: UUID, metadata: String?, createdAt: Timestamp, expiresAt: Timestamp
    ) {
        key = 0
        self.id = id
        self.appKey = appKey
        self.customerKey = customerKey
        self.productKey = productKey
        self.quantity = quantity
        self.environment = environment
        self.acceptsRenewal = acceptsRenewal
        self.token = token
        self.metadata = metadata
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        status = .created
    }

    /// The token of an erased order.
    static let noID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// An erased order, which keeps only the id, the customer's key and a time.
    init(erased id: UUID, customerKey: Int64, at time: Timestamp) {
        self.init(
            id: id, appKey: 0, customerKey: customerKey, productKey: 0, quantity: 0, environment: nil, token: Self.noID,
            metadata: nil, createdAt: time, expiresAt: time)
        status = .cancelled
    }

    var values: [LedgerValue] {
        [
            .id(id), .integer(appKey), .integer(customerKey), .integer(productKey), .integer(quantity),
            .integer(environment), .id(token), .text(metadata), .time(createdAt), .time(expiresAt),
            .text(status.rawValue), .integer(paidBy), .time(paidAt), .time(fulfilledAt), .time(closedAt),
            .integer(acceptsRenewal ? 1 : 0), .integer(fulfilledUnits),
        ]
    }

    /// The state at a time: an unpaid order expires.
    func status(at time: Timestamp) -> OrderStatus { status == .created && expiresAt <= time ? .expired : status }
}
