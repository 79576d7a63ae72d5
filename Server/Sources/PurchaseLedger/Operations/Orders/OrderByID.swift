import PurchaseVerification

public import struct Foundation.UUID

/// One order.
public struct OrderByID: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var app: String
    public var orderID: UUID

    /// The order with an id.
    public init(app: String, orderID: UUID) {
        self.app = app
        self.orderID = orderID
    }

    /// - Throws: `order_unknown`.
    public func answer(_ reader: LedgerTransaction) throws -> Order {
        try reader.order(try reader.existingOrder(orderID, try reader.app(app)))
    }
}
