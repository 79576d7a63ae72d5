import PurchaseVerification

/// The filter of a list of notifications. Fields that are `nil` do not restrict it.
public struct NotificationFilter: Sendable, Equatable {
    /// Apple's name of the type, such as `REFUND`.
    public var type: String?
    public var subtype: String?
    /// The owner of the purchase.
    public var customerID: String?
    /// The transaction, or its original.
    public var transactionID: String?

    /// All notifications.
    public init(
        type: String? = nil, subtype: String? = nil, customerID: String? = nil, transactionID: String? = nil
    ) {
        self.type = type
        self.subtype = subtype
        self.customerID = customerID
        self.transactionID = transactionID
    }
}
