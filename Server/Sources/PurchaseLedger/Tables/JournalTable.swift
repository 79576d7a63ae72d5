public import PurchaseVerification

import struct Foundation.UUID

/// A journal entry as it is stored.
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
    /// `nil` after an erasure, like the details.
    var salt: [UInt8]?
    /// JSON. The column has its shorter form (`JSONShorthand`).
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

/// Where a page of the journal goes on: behind an entry, towards older ones.
public struct JournalCursor: Sendable, Hashable {
    /// The time of the last entry of the page before.
    public var at: Timestamp
    /// Its key.
    public var key: Int64

    /// A cursor by its parts.
    public init(at: Timestamp, key: Int64) {
        self.at = at
        self.key = key
    }
}

/// Which index finds the entries of a list.
enum JournalSelection: Sendable {
    case app
    case customer(Int64)
    case order(Int64)
    case transaction(Int64)
    /// Any code but `accepted`, which has no index, since most entries have it.
    case code(String)
}

struct JournalTable {
    let connection: any LedgerConnection

    func insert(_ row: JournalRow) throws(LedgerStorageError) -> Int64 {
        try JournalRow.table.insert(row.values, connection)
    }

    func row(id: UUID) throws(LedgerStorageError) -> JournalRow? {
        try JournalRow.first("WHERE entry_id = ?1", [.id(id)], connection)
    }

    /// Whether nothing was written yet.
    func isEmpty() throws(LedgerStorageError) -> Bool {
        try connection.rows("SELECT entry_key FROM journal LIMIT 1", []).isEmpty
    }

    /// The number of the newest entry; 0 if there is none.
    func last() throws(LedgerStorageError) -> Int64 {
        guard var reader = try connection.rows("SELECT max(entry_key) FROM journal", []).first?.reader else { return 0 }
        return try reader.optionalInteger() ?? 0
    }

    func row(key: Int64) throws(LedgerStorageError) -> JournalRow? {
        try JournalRow.first("WHERE entry_key = ?1", [.integer(key)], connection)
    }

    /// Whether an entry of a kind names both an order and a transaction.
    func hasEntry(
        of kind: Int64, naming orderKey: Int64, transaction transactionKey: Int64
    ) throws(LedgerStorageError) -> Bool {
        try !connection.rows(
            "SELECT entry_key FROM journal WHERE order_key = ?1 AND transaction_key = ?2 AND kind = ?3 LIMIT 1",
            [.integer(orderKey), .integer(transactionKey), .integer(kind)]
        ).isEmpty
    }

    /// The entries after a key, in the order of the journal.
    func rows(after key: Int64, limit: Int64) throws(LedgerStorageError) -> [JournalRow] {
        try JournalRow.all(
            "WHERE entry_key > ?1 ORDER BY entry_key LIMIT ?2", [.integer(key), .integer(limit)], connection)
    }

    /// The entries of a kind, oldest first. It reads the table; only audits and erasures ask.
    func rows(kind: Int64) throws(LedgerStorageError) -> [JournalRow] {
        try JournalRow.all("WHERE kind = ?1 ORDER BY entry_key", [.integer(kind)], connection)
    }

    /// The entries of a customer, oldest first.
    func rows(customer: Int64) throws(LedgerStorageError) -> [JournalRow] {
        try JournalRow.all("WHERE customer_key = ?1 ORDER BY entry_key", [.integer(customer)], connection)
    }

    /// The entries about a transaction that name no customer.
    func anonymousRows(transaction: Int64) throws(LedgerStorageError) -> [JournalRow] {
        try JournalRow.all(
            "WHERE transaction_key = ?1 AND customer_key IS NULL ORDER BY entry_key", [.integer(transaction)],
            connection)
    }

    /// Refused entries of a kind that name no customer whom the ledger knew.
    func anonymousRefusals(appKey: Int64, kind: Int64) throws(LedgerStorageError) -> [JournalRow] {
        try JournalRow.all(
            """
            WHERE app_key = ?1 AND code <> 'accepted' AND code <> '' AND customer_key IS NULL AND kind = ?2
            AND details IS NOT NULL ORDER BY entry_key
            """, [.integer(appKey), .integer(kind)], connection)
    }

    /// Which pieces of evidence are named by entries of customers, with the customer. It reads the table; only an erasure asks.
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

    /// Deletes the details of an entry, and the salt.
    func erase(_ key: Int64) throws(LedgerStorageError) {
        try connection.execute(
            "UPDATE journal SET salt = NULL, details = NULL WHERE entry_key = ?1", [.integer(key)])
    }

    /// Entries of a selection, newest first.
    ///
    /// - Parameters:
    ///   - app: the app; entries of others are left out.
    ///   - kind: the kind of entry.
    ///   - from: the earliest time.
    ///   - to: the time before which they were written.
    ///   - cursor: where the page before ended.
    func page(
        _ selection: JournalSelection, app: Int64, kind: Int64, from: Timestamp?, to: Timestamp?,
        cursor: JournalCursor?, limit: Int64
    ) throws(LedgerStorageError) -> [JournalRow] {
        // One row value per bound, so that every engine starts at the right place in the index.
        let before = cursor ?? JournalCursor(at: to ?? Timestamp(millisecondsSince1970: .max), key: .min)
        let condition: String
        let parameter: LedgerValue
        switch selection {
        case .app: (condition, parameter) = ("app_key = ?1", .integer(app))
        case .customer(let key): (condition, parameter) = ("customer_key = ?7 AND app_key = ?1", .integer(key))
        case .order(let key): (condition, parameter) = ("order_key = ?7 AND app_key = ?1", .integer(key))
        case .transaction(let key): (condition, parameter) = ("transaction_key = ?7 AND app_key = ?1", .integer(key))
        case .code(let code):
            (condition, parameter) = (
                "app_key = ?1 AND code = ?7 AND code <> 'accepted' AND code <> ''", .text(code)
            )
        }
        var parameters: [LedgerValue] = [
            .integer(app), .time(before.at), .integer(before.key), .time(from ?? Timestamp(millisecondsSince1970: 0)),
            .integer(kind), .integer(limit),
        ]
        if case .app = selection {} else { parameters.append(parameter) }
        return try JournalRow.all(
            """
            WHERE \(condition) AND (at, entry_key) < (?2, ?3) AND at >= ?4 AND kind = ?5
            ORDER BY at DESC, entry_key DESC LIMIT ?6
            """, parameters, connection)
    }
}
