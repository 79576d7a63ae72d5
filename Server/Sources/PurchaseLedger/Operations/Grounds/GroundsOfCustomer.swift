import PurchaseVerification

/// The grounds of other shops that a customer has or had, the newest first.
public struct GroundsOfCustomer: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var app: String
    public var customerID: String

    /// The grounds of a customer.
    public init(app: String, customerID: String) {
        self.app = app
        self.customerID = customerID
    }

    /// The answer.
    public struct Answer: Sendable, Equatable {
        public var grounds: [OutsideGround]
        /// The customer into whom the named one was merged; `nil` if it was not.
        public var mergedInto: String?
    }

    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        guard let customer = try reader.customer(customerID, app) else { return Answer(grounds: []) }
        var grounds: [OutsideGround] = []
        for row in try HandGrantsTable(connection: reader.connection).rows(of: customer.key).reversed() {
            if let ground = try OutsideGround(row, reader) { grounds.append(ground) }
        }
        return Answer(grounds: grounds, mergedInto: customer.survivor(of: customerID))
    }
}
