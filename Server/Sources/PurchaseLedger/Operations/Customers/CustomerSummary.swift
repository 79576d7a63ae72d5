import PurchaseVerification

public import struct Foundation.UUID

/// A customer, and the operators' actions on them.
public struct CustomerSummary: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    public var customerID: String

    /// The summary of a customer.
    public init(app: String, customerID: String) {
        self.app = app
        self.customerID = customerID
    }

    /// The answer.
    public struct Answer: Sendable, Equatable {
        /// The customer's id after all merges; `nil` after an erasure.
        public var customerID: String?
        /// The current account token.
        public var appAccountToken: UUID?
        public var isTester: Bool
        /// Manual grants and revocations, oldest first, including lifted ones.
        public var handGrants: [HandGrantRecord]
    }

    /// - Throws: `customer_unknown`.
    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        guard let customer = try reader.customer(customerID, app) else {
            throw LedgerRefusal(.customerUnknown, expected: customerID)
        }
        let rows = try HandGrantsTable(connection: reader.connection).rows(of: customer.key)
        return Answer(
            customerID: customer.name, appAccountToken: customer.token,
            isTester: try TestersTable(connection: reader.connection).contains(customer.key, appKey: app.key),
            handGrants: try rows.map { try HandGrantRecord($0, reader) })
    }
}
