/// The customer into whom another was merged; `nil` if they were not, or are not known.
public struct SurvivorOfCustomer: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var app: String
    public var customerID: String

    /// The survivor of a customer.
    public init(app: String, customerID: String) {
        self.app = app
        self.customerID = customerID
    }

    public func answer(_ reader: LedgerTransaction) throws -> String? {
        try reader.customer(customerID, try reader.app(app))?.survivor(of: customerID)
    }
}
