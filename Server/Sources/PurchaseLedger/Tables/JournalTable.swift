public import PurchaseVerification

import struct Foundation.UUID

struct JournalTable {
    let connection: any LedgerConnection

    func insert(_ row: JournalRow) throws(LedgerStorageError) -> Int64 {
        try JournalRow.table.insert(row.values, connection)
    }

    func row(id: UUID) throws(LedgerStorageError) -> JournalRow? {
        try JournalRow.first("WHERE entry_id = ?1", [.id(id)], connection)
    }

    /// Whether the journal has no entries.
    func isEmpty() throws(LedgerStorageError) -> Bool {
        try connection.rows("SELECT entry_key FROM journal LIMIT 1", [], of: ["journal"]).isEmpty
    }

    /// The number of the newest entry; 0 if there is none.
    func last() throws(LedgerStorageError) -> Int64 {
        guard var reader = try connection.rows("SELECT max(entry_key) FROM journal", [], of: ["journal"]).first?.reader
        else { return 0 }
        return try reader.optionalInteger() ?? 0
    }

    func row(key: Int64) throws(LedgerStorageError) -> JournalRow? {
        try JournalRow.first("WHERE entry_key = ?1", [.integer(key)], connection)
    }

    /// The orders that claims of a transaction named, or the decisions about them, with the first entry that did.
    func orders(namedFor transactionKey: Int64) throws(LedgerStorageError) -> [(entry: Int64, order: Int64)] {
        // 3 is `JournalKind.claim`, 32 is `JournalKind.decision`.
        try connection.rows(
            """
            SELECT min(entry_key), order_key FROM journal
            WHERE transaction_key = ?1 AND kind IN (3, 32) AND order_key IS NOT NULL GROUP BY order_key
            """, [.integer(transactionKey)], of: ["journal"]
        ).map { row throws(LedgerStorageError) in
            var reader = row.reader
            return (try reader.integer(), try reader.integer())
        }
    }

    /// Whether a customer claimed a transaction.
    func hasClaim(of customerKey: Int64, transaction transactionKey: Int64) throws(LedgerStorageError) -> Bool {
        try !connection.rows(Self.ofClaimant, [.integer(transactionKey), .integer(customerKey)]).isEmpty
    }

    /// The details of a customer's latest restores of several purchases, whose entries refer to no transaction; the
    /// newest first.
    func restores(of customerKey: Int64, limit: Int64) throws(LedgerStorageError) -> [[UInt8]] {
        // The entries of this request name other transactions.
        let rows = try connection.rows(
            """
            SELECT details FROM journal WHERE customer_key = ?1 AND kind = 3 AND transaction_key IS NULL
            AND code = 'accepted' AND details IS NOT NULL ORDER BY entry_key DESC LIMIT ?2
            """, [.integer(customerKey), .integer(limit)], of: [])
        var restores: [[UInt8]] = []
        for row in rows {
            var reader = row.reader
            restores.append(JSONShorthand.json(try reader.blob()))
        }
        return restores
    }

    /// A claim of a transaction by the customer with a name. 3 is `JournalKind.claim`.
    static let ofClaimant = ReadShape(
        "SELECT entry_key FROM journal WHERE transaction_key = ?1 AND kind = 3 AND customer_key = ?2 LIMIT 1",
        of: ReadScope(JournalRow.table.name, by: "transaction_key", "customer_key"),
        [.column(0, of: TransactionsTable.byKey), .column(0, of: CustomersTable.byName)])

    /// The claims with a piece of evidence whose entries refer to a transaction.
    func claims(withEvidence key: Int64, transaction transactionKey: Int64) throws(LedgerStorageError) -> [JournalRow] {
        try JournalRow.all(
            "WHERE transaction_key = ?1 AND kind = 3 AND evidence_key = ?2 ORDER BY at, entry_key",
            [.integer(transactionKey), .integer(key)], connection)
    }

    /// The claims with a piece of evidence that name an order.
    func claims(withEvidence key: Int64, order orderKey: Int64) throws(LedgerStorageError) -> [JournalRow] {
        try JournalRow.all(
            "WHERE order_key = ?1 AND kind = 3 AND evidence_key = ?2 ORDER BY at, entry_key",
            [.integer(orderKey), .integer(key)], connection)
    }

    /// The entries after a key, in the order of the journal.
    func rows(after key: Int64, limit: Int64) throws(LedgerStorageError) -> [JournalRow] {
        try JournalRow.all(
            "WHERE entry_key > ?1 ORDER BY entry_key LIMIT ?2", [.integer(key), .integer(limit)], connection)
    }

    /// The entries `refusals` since a time, at most ten thousand.
    func refusals(since: Timestamp) throws(LedgerStorageError) -> [JournalRow] {
        try JournalRow.all(
            "WHERE kind = 48 AND at >= ?1 ORDER BY entry_key LIMIT 10000", [.integer(since.millisecondsSince1970)],
            connection)
    }

    /// The entries of a kind, oldest first. It scans the table; only audits and erasures call it.
    func rows(kind: Int64) throws(LedgerStorageError) -> [JournalRow] {
        try JournalRow.all("WHERE kind = ?1 ORDER BY entry_key", [.integer(kind)], connection)
    }

    /// The entries of a customer, oldest first.
    func rows(customer: Int64) throws(LedgerStorageError) -> [JournalRow] {
        try JournalRow.all("WHERE customer_key = ?1 ORDER BY entry_key", [.integer(customer)], connection)
    }

    /// The entries of a customer of one kind, oldest first.
    func rows(customer: Int64, kind: Int64) throws(LedgerStorageError) -> [JournalRow] {
        try JournalRow.all(
            "WHERE customer_key = ?1 AND kind = ?2 ORDER BY at, entry_key",
            [.integer(customer), .integer(kind)], connection)
    }

    /// The entries of consumptions that are stored under a customer, oldest first.
    func consumptions(of customer: Int64) throws(LedgerStorageError) -> [JournalRow] {
        let own = "SELECT entry_key FROM consumptions WHERE customer_key = ?1"
        return try JournalRow.query(
            JournalRow.table.select("WHERE entry_key IN (\(own)) ORDER BY entry_key"),
            of: [JournalRow.table.name, ConsumptionRow.table.name], [.integer(customer)], connection)
    }

    /// The entries about a transaction that name no customer.
    func anonymousRows(transaction: Int64) throws(LedgerStorageError) -> [JournalRow] {
        try JournalRow.all(
            "WHERE transaction_key = ?1 AND customer_key IS NULL ORDER BY entry_key", [.integer(transaction)],
            connection)
    }

    /// The evidence of the entries of customers, with the customer. It scans the table; only an erasure calls it.
    func customers(namingEvidence keys: [Int64]) throws(LedgerStorageError) -> [(evidence: Int64, customer: Int64)] {
        var found: [(evidence: Int64, customer: Int64)] = []
        // SQLite accepts 32,766 parameters.
        for start in stride(from: 0, to: keys.count, by: 10_000) {
            let part = keys[start..<min(start + 10_000, keys.count)]
            let places = part.indices.map { "?\($0 - start + 1)" }.joined(separator: ", ")
            for row in try connection.rows(
                """
                SELECT DISTINCT evidence_key, customer_key FROM journal
                WHERE evidence_key IN (\(places)) AND customer_key IS NOT NULL
                """, part.map { .integer($0) })
            {
                var reader = row.reader
                found.append((try reader.integer(), try reader.integer()))
            }
        }
        return found
    }

    /// The entries of some indexes, by their times.
    func order(_ indexes: [ListIndex], isAscending: Bool = false) -> ListOrder<JournalRow, JournalCursor> {
        ListOrder(connection, indexes, by: ["at", "entry_key"], isAscending: isAscending) {
            JournalCursor(at: $0.at, key: $0.key)
        }
    }

    /// Deletes the details of an entry, and the salt.
    func erase(_ key: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "journal",
            "UPDATE journal SET salt = NULL, details = NULL WHERE entry_key = ?1", [.integer(key)])
    }
}

/// A stored journal entry.
struct JournalRow: TableRow {
    static let table = Table(
        "journal", key: "entry_key",
        columns: [
            "entry_id", "leaf", "salt", "details", "app_key", "customer_key", "order_key", "transaction_key",
            "evidence_key", "kind", "code", "at", "mac",
        ])

    var key: Int64
    var id: UUID
    /// The bytes that the Merkle log covers.
    var leaf: [UInt8]
    /// The salt; `nil` after an erasure, like the details.
    var salt: [UInt8]?
    /// JSON. The column stores a shorter form (`JSONShorthand`).
    var details: [UInt8]?
    /// 0 for entries of the whole ledger.
    var appKey: Int64
    var customerKey: Int64?
    var orderKey: Int64?
    var transactionKey: Int64?
    var evidenceKey: Int64?
    var kind: Int64
    var code: String
    var at: Timestamp
    /// The code of the server that wrote the entry (HMAC-SHA256 of the leaf).
    var mac: [UInt8]?

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        key = try reader.integer()
        id = try reader.id()
        leaf = try reader.blob()
        salt = try reader.optionalBlob()
        details = try reader.optionalBlob().map(JSONShorthand.json)
        appKey = try reader.integer()
        customerKey = try reader.optionalInteger()
        orderKey = try reader.optionalInteger()
        transactionKey = try reader.optionalInteger()
        evidenceKey = try reader.optionalInteger()
        kind = try reader.integer()
        code = try reader.text()
        at = try reader.time()
        mac = try reader.optionalBlob()
    }

    init(id: UUID, leaf: [UInt8], salt: [UInt8], details: [UInt8], appKey: Int64, kind: Int64, at: Timestamp) {
        key = 0
        self.id = id
        self.leaf = leaf
        self.salt = salt
        self.details = details
        self.appKey = appKey
        self.kind = kind
        code = ""
        self.at = at
    }

    var values: [LedgerValue] {
        [
            .id(id), .blob(leaf), .blob(salt), .blob(details.map(JSONShorthand.shortened)), .integer(appKey),
            .integer(customerKey),
            .integer(orderKey), .integer(transactionKey), .integer(evidenceKey), .integer(kind), .text(code), .time(at),
            .blob(mac),
        ]
    }
}

/// The position at which a page of the journal continues, towards older entries.
public struct JournalCursor: ListCursor {
    /// The time of the last entry of the page before.
    public var at: Timestamp
    public var key: Int64

    /// Creates a cursor.
    public init(at: Timestamp, key: Int64) {
        self.at = at
        self.key = key
    }

    public init?(numbers: [Int64]) {
        guard numbers.count == 2 else { return nil }
        self.init(at: Timestamp(millisecondsSince1970: numbers[0]), key: numbers[1])
    }

    public var numbers: [Int64] { [at.millisecondsSince1970, key] }
}
