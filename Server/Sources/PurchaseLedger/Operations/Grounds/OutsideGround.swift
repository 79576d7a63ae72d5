public import PurchaseVerification

public import struct Foundation.UUID

/// A product that another shop gives to a customer. Assay does not verify the shop: the backend did.
public struct OutsideGround: Sendable, Equatable {
    public var id: UUID
    /// The shop, such as `google_play`.
    public var source: String
    /// What the shop calls the ground.
    public var reference: String
    public var productID: String
    public var environment: AppStoreEnvironment
    public var since: Timestamp
    /// When it ends; `nil` if it does not end.
    public var until: Timestamp?
    /// When the backend ended it.
    public var endedAt: Timestamp?
}

extension OutsideGround {
    /// - Returns: `nil` for an operator's grant or revocation.
    init?(_ row: HandGrantRow, _ reader: LedgerTransaction) throws(LedgerStorageError) {
        guard let source = row.source, let reference = row.reference else { return nil }
        self.init(
            id: row.id, source: source, reference: reference, productID: try reader.products.id(row.productKey),
            environment: try reader.environments.environment(row.environment), since: row.startsAt, until: row.endsAt,
            endedAt: row.liftedAt)
    }
}
