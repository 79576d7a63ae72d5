import PurchaseVerification

import struct Foundation.UUID

struct HandGrantsTable {
    static let revocationsOfOriginal = ReadShape(
        HandGrantRow.table.select("WHERE revoked_original = ?1 ORDER BY grant_key"),
        of: ReadScope(HandGrantRow.table.name, by: "revoked_original"),
        [.column(0, of: OriginalsTable.byNumber)])
    /// The revocations of the originals of which a customer owns a pass of a product.
    static let ofPassesOfName = ReadShape(
        HandGrantRow.table.select(
            "WHERE revoked_original IN (\(TransactionsTable.originalsOfPasses))"),
        of: [HandGrantRow.table.name, TransactionRow.table.name], TransactionsTable.passesOfName)
    static let ofPassesOfOwner = ReadShape(
        ofPassesOfName.sql, of: ofPassesOfName.scope, TransactionsTable.passesOfOwner)

    let connection: any LedgerConnection

    func row(id: UUID) throws(LedgerStorageError) -> HandGrantRow? {
        try HandGrantRow.first("WHERE grant_id = ?1", [.id(id)], connection)
    }

    func row(key: Int64) throws(LedgerStorageError) -> HandGrantRow? {
        try HandGrantRow.first("WHERE grant_key = ?1", [.integer(key)], connection)
    }

    func rows(of customer: Int64) throws(LedgerStorageError) -> [HandGrantRow] {
        try HandGrantRow.all("WHERE customer_key = ?1 ORDER BY grant_key", [.integer(customer)], connection)
    }

    /// The newest ground of a shop with a reference.
    func ground(
        _ source: String, _ reference: String, appKey: Int64
    ) throws(LedgerStorageError) -> HandGrantRow? {
        try HandGrantRow.first(
            "WHERE app_key = ?1 AND source = ?2 AND reference = ?3 ORDER BY grant_key DESC LIMIT 1",
            [.integer(appKey), .text(source), .text(reference)], connection)
    }

    /// The grounds of a shop whose references begin with a text.
    func grounds(
        _ source: String, beginning text: String, appKey: Int64
    ) throws(LedgerStorageError) -> [HandGrantRow] {
        try HandGrantRow.all(
            "WHERE app_key = ?1 AND source = ?2 AND reference >= ?3 AND reference < ?4 ORDER BY reference, grant_key",
            [.integer(appKey), .text(source), .text(text), .text(text + "\u{10FFFF}")], connection)
    }

    /// The shops of some grants, each once; operators' grants have none.
    func sources(of keys: [Int64]) throws(LedgerStorageError) -> [String] {
        var sources: Set<String> = []
        for key in keys { if let source = try row(key: key)?.source { sources.insert(source) } }
        return sources.sorted()
    }

    /// The revocations of an original, including lifted ones.
    func revocations(ofOriginal key: Int64) throws(LedgerStorageError) -> [HandGrantRow] {
        try HandGrantRow.query(Self.revocationsOfOriginal, [.integer(key)], connection)
    }

    /// The revocations of some originals, including lifted ones.
    func revocations(ofOriginals keys: [Int64]) throws(LedgerStorageError) -> [HandGrantRow] {
        try HandGrantRow.all(
            "WHERE revoked_original IN (\(LedgerValue.places(keys.count)))",
            keys.map { .integer($0) }, connection)
    }

    /// The revocations of the originals of which a customer owns a pass of a product, including lifted ones.
    ///
    /// - Parameter addsChanges: whether the caller adds the changes of the write.
    func revocationsOfPasses(
        _ customer: Int64, product: Int64, environment: Int64, addsChanges: Bool
    ) throws(LedgerStorageError) -> [HandGrantRow] {
        try HandGrantRow.query(
            Self.ofPassesOfName.sql, of: addsChanges ? [] : Self.ofPassesOfName.scope,
            [.integer(customer), .integer(product), .integer(environment)], connection)
    }

    /// The revocations of a grant, including lifted ones.
    func revocations(ofGrant key: Int64) throws(LedgerStorageError) -> [HandGrantRow] {
        try HandGrantRow.all("WHERE revoked_grant = ?1 ORDER BY grant_key", [.integer(key)], connection)
    }

    /// A grant with its revocations, as the rules read it.
    ///
    /// - Parameters:
    ///   - product: the id of its product.
    ///   - environment: the environment of its number.
    func grant(
        _ row: HandGrantRow, kind: ProductKind, product: String, environment: AppStoreEnvironment
    ) throws(LedgerStorageError) -> (grant: HandGrant, revocations: [HandRevocation]) {
        let revocations = try revocations(ofGrant: row.key).map { revocation in
            HandRevocation(target: .grant(row.key), from: revocation.startsAt, liftedAt: revocation.liftedAt)
        }
        let grant = HandGrant(
            entry: row.key, customer: CustomerNumber(rawValue: row.customerKey), productID: ExactText(product),
            environment: environment, kind: kind, quantity: row.quantity, from: row.startsAt,
            until: [row.endsAt, row.liftedAt].compactMap(\.self).min(),
            isLifted: row.liftedAt != nil && row.source == nil)
        return (grant, revocations)
    }

    func insert(_ row: HandGrantRow) throws(LedgerStorageError) -> HandGrantRow {
        var row = row
        row.key = try HandGrantRow.table.insert(row.values, connection)
        return row
    }

    func lift(_ key: Int64, at time: Timestamp) throws(LedgerStorageError) {
        try connection.send(
            to: "hand_grants",
            "UPDATE hand_grants SET lifted_at = ?2 WHERE grant_key = ?1 AND lifted_at IS NULL",
            [.integer(key), .time(time)])
    }

    /// Changes the end of a ground.
    func extend(_ key: Int64, to end: Timestamp?) throws(LedgerStorageError) {
        try connection.send(
            to: "hand_grants", "UPDATE hand_grants SET ends_at = ?2 WHERE grant_key = ?1", [.integer(key), .time(end)])
    }

    func delete(_ key: Int64) throws(LedgerStorageError) {
        try connection.send(to: "hand_grants", "DELETE FROM hand_grants WHERE grant_key = ?1", [.integer(key)])
    }

    /// Removes the product from the revocations of an original.
    func forgetProducts(ofOriginal key: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "hand_grants", "UPDATE hand_grants SET product_key = 0 WHERE revoked_original = ?1", [.integer(key)])
    }
}

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

/// The two manual acts of an operator.
enum HandGrantKind: String, Sendable {
    case grant
    case revocation
}
