public import PurchaseVerification

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

/// A recorded manual grant or revocation.
public struct HandGrantRecord: Sendable, Equatable {
    /// The id with which it can be lifted.
    public var id: UUID
    /// Whether it is a revocation.
    public var isRevocation: Bool
    public var productID: String
    public var environment: AppStoreEnvironment
    /// Units of a granted consumable.
    public var quantity: Int64
    /// The original transaction that it revokes.
    public var revokedOriginalID: String?
    public var revokedGrant: UUID?
    public var startsAt: Timestamp
    public var endsAt: Timestamp?
    public var liftedAt: Timestamp?

    init(_ row: HandGrantRow, _ reader: LedgerTransaction) throws(LedgerStorageError) {
        let connection = reader.connection
        id = row.id
        isRevocation = row.kind == .revocation
        productID = try reader.products.id(row.productKey)
        environment = try reader.environments.environment(row.environment)
        quantity = row.quantity
        revokedOriginalID = try row.revokedOriginal.map { key throws(LedgerStorageError) in
            try OriginalsTable(connection: connection).row(key).originalID
        }
        revokedGrant = try row.revokedGrant.flatMap { key throws(LedgerStorageError) in
            try HandGrantsTable(connection: connection).row(key: key)?.id
        }
        startsAt = row.startsAt
        endsAt = row.endsAt
        liftedAt = row.liftedAt
    }
}
