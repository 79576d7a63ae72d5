public import PurchaseVerification

public import struct Foundation.UUID

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
