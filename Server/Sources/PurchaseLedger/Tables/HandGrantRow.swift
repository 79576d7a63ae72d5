import PurchaseVerification

import struct Foundation.UUID

/// A grant or a revocation by an operator, or a ground of another shop.
struct HandGrantRow: TableRow {
    static let table = Table(
        "hand_grants", key: "grant_key",
        columns: [
            "grant_id", "app_key", "customer_key", "product_key", "environment", "kind", "quantity",
            "revoked_original", "revoked_shared", "revoked_grant", "starts_at", "ends_at", "lifted_at", "entry_key",
            "source", "reference",
        ])

    var key: Int64
    var id: UUID
    var appKey: Int64
    var customerKey: Int64
    var productKey: Int64
    var environment: Int64
    var kind: HandGrantKind
    /// The units of a granted consumable.
    var quantity: Int64
    var revokedOriginal: Int64?
    /// Whether it revokes the copies of a member of a family or a group instead of the purchase itself.
    var revokedShared = false
    var revokedGrant: Int64?
    var startsAt: Timestamp
    var endsAt: Timestamp?
    var liftedAt: Timestamp?
    var entryKey: Int64
    /// The shop of a ground from outside; `nil` for an operator's grant.
    var source: String?
    /// What the shop calls the ground.
    var reference: String?

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        key = try reader.integer()
        id = try reader.id()
        appKey = try reader.integer()
        customerKey = try reader.integer()
        productKey = try reader.integer()
        environment = try reader.integer()
        kind = try reader.named(HandGrantKind.self)
        quantity = try reader.integer()
        revokedOriginal = try reader.optionalInteger()
        revokedShared = try reader.flag()
        revokedGrant = try reader.optionalInteger()
        startsAt = try reader.time()
        endsAt = try reader.optionalTime()
        liftedAt = try reader.optionalTime()
        entryKey = try reader.integer()
        source = try reader.optionalText()
        reference = try reader.optionalText()
    }

    init(
        id: UUID, appKey: Int64, customerKey: Int64, productKey: Int64, environment: Int64, kind: HandGrantKind,
        quantity: Int64, startsAt: Timestamp, endsAt: Timestamp?, entryKey: Int64
    ) {
        key = 0
        self.id = id
        self.appKey = appKey
        self.customerKey = customerKey
        self.productKey = productKey
        self.environment = environment
        self.kind = kind
        self.quantity = quantity
        self.startsAt = startsAt
        self.endsAt = endsAt
        self.entryKey = entryKey
    }

    var values: [LedgerValue] {
        [
            .id(id), .integer(appKey), .integer(customerKey), .integer(productKey), .integer(environment),
            .text(kind.rawValue), .integer(quantity), .integer(revokedOriginal), .flag(revokedShared),
            .integer(revokedGrant), .time(startsAt), .time(endsAt),
            .time(liftedAt), .integer(entryKey), .text(source), .text(reference),
        ]
    }
}
