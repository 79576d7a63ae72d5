import PurchaseVerification

public import struct Foundation.UUID

/// The filter of a list of events. Fields that are `nil` do not restrict it.
public struct EventFilter: Sendable, Equatable {
    /// A customer, including those who were merged into it.
    public var customerID: String?
    public var orderID: UUID?
    public var transactionID: String?

    /// All events.
    public init(customerID: String? = nil, orderID: UUID? = nil, transactionID: String? = nil) {
        self.customerID = customerID
        self.orderID = orderID
        self.transactionID = transactionID
    }
}
