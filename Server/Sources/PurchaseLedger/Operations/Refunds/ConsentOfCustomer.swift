/// The answer of a customer to the question whether their use of purchases may be told to Apple.
public struct ConsentOfCustomer: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var app: String
    public var customerID: String

    public init(app: String, customerID: String) {
        self.app = app
        self.customerID = customerID
    }

    /// - Returns: `nil` if none is recorded.
    public func answer(_ reader: LedgerTransaction) throws -> ConsumptionConsent? {
        guard let customer = try reader.customer(customerID, try reader.app(app)) else { return nil }
        return try ConsumptionConsentsTable(connection: reader.connection).row(of: customer.key).map {
            ConsumptionConsent($0, customer.survivor(of: customerID))
        }
    }
}
