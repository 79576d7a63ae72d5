public import PurchaseVerification

public import struct Foundation.UUID

/// The units of one purchase or grant of a consumable.
public struct BalanceLot: Sendable, Equatable {
    /// The transaction; `nil` for a grant by an operator.
    public var transactionID: String?
    /// The grant by an operator; `nil` for a purchase.
    public var grantID: UUID?
    public var purchasedAt: Timestamp
    /// The units that were bought or granted.
    public var quantity: Int64
    /// Of these, the units that Apple withdrew.
    public var withdrawn: Int64
    /// Of these, the units that the customer used.
    public var taken: Int64
    /// The units that are left.
    public var available: Int64
}

extension BalanceLot {
    init(_ row: LotRow, _ reader: LedgerTransaction) throws(LedgerStorageError) {
        (purchasedAt, quantity, withdrawn) = (row.purchasedAt, row.quantity, row.withdrawn)
        (taken, available) = (row.taken, row.available)
        if row.ground > 0 {
            transactionID = try OriginalsTable(connection: reader.connection).row(row.ground).originalID
        } else {
            grantID = try HandGrantsTable(connection: reader.connection).row(key: -row.ground)?.id
        }
    }
}
