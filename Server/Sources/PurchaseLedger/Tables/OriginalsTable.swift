import PurchaseVerification

struct OriginalsTable {
    /// An original by environment, number and second; the first column is the key.
    static let byNumber = ReadShape(
        OriginalRow.table.select("WHERE environment = ?1 AND original_id = ?2 AND xcode_second = ?3"),
        of: ReadScope(OriginalRow.table.name, by: "environment", "original_id", "xcode_second"),
        [.value, .value, .value], numbering: OriginalRow.table.numbering)
    static let ofNumber = ReadShape(
        OriginalRow.table.select("WHERE original_key = ?1"), of: ReadScope(OriginalRow.table.name, by: "original_key"),
        [.column(0, of: byNumber)])

    static let withID = ReadShape(
        OriginalRow.table.select("WHERE environment = ?1 AND original_id = ?2"),
        of: ReadScope(OriginalRow.table.name, by: "environment", "original_id"), [.value, .value])
    /// The originals of which a customer owns a pass of a product.
    static let ofPassesOfName = ReadShape(
        OriginalRow.table.select(
            "WHERE original_key IN (\(TransactionsTable.originalsOfPasses)) ORDER BY original_key"),
        of: [OriginalRow.table.name, TransactionRow.table.name], TransactionsTable.passesOfName)
    static let ofPassesOfOwner = ReadShape(
        ofPassesOfName.sql, of: ofPassesOfName.scope, TransactionsTable.passesOfOwner)

    let connection: any LedgerConnection

    func row(_ key: Int64) throws(LedgerStorageError) -> OriginalRow {
        guard let row = try OriginalRow.first(Self.ofNumber, [.integer(key)], connection) else {
            throw LedgerStorageError(.corrupt, "there is no original \(key)")
        }
        return row
    }

    func row(_ original: OriginalKey, environment: Int64) throws(LedgerStorageError) -> OriginalRow? {
        try OriginalRow.first(
            Self.byNumber,
            [.integer(environment), .text(original.transactionID.string), .integer(original.second)], connection)
    }

    func rows(_ keys: [Int64]) throws(LedgerStorageError) -> [OriginalRow] {
        try OriginalRow.all(
            "WHERE original_key IN (\(LedgerValue.places(keys.count))) ORDER BY original_key",
            keys.map { .integer($0) }, connection)
    }

    /// The originals of which a customer owns a pass of a product.
    ///
    /// - Parameter addsChanges: whether the caller adds the changes of the write.
    func ofPasses(
        _ customer: Int64, product: Int64, environment: Int64, addsChanges: Bool
    ) throws(LedgerStorageError) -> [OriginalRow] {
        try OriginalRow.query(
            Self.ofPassesOfName.sql, of: addsChanges ? [] : Self.ofPassesOfName.scope,
            [.integer(customer), .integer(product), .integer(environment)], connection)
    }

    /// All originals with an id; there is more than one only in Xcode.
    func rows(id: String, environment: Int64) throws(LedgerStorageError) -> [OriginalRow] {
        try OriginalRow.query(Self.withID, [.integer(environment), .text(id)], connection)
    }

    /// All originals with an id, of every environment.
    func rows(id: String) throws(LedgerStorageError) -> [OriginalRow] {
        try OriginalRow.query(
            OriginalRow.table.select(
                "WHERE environment IN (SELECT environment_key FROM environments) AND original_id = ?1"),
            [.text(id)], connection)
    }

    /// The originals of an app after a key. It reads the table in the order of its keys.
    func rows(appKey: Int64, after key: Int64, limit: Int64) throws(LedgerStorageError) -> [OriginalRow] {
        try OriginalRow.all(
            "WHERE app_key = ?1 AND original_key > ?2 ORDER BY original_key LIMIT ?3",
            [.integer(appKey), .integer(key), .integer(limit)], connection)
    }

    /// The number of an app's originals after a key.
    func count(appKey: Int64, after key: Int64) throws(LedgerStorageError) -> Int {
        Int(
            try connection.integers(
                "SELECT count(*) FROM originals WHERE app_key = ?1 AND original_key > ?2",
                [.integer(appKey), .integer(key)]
            ).first ?? 0)
    }

    func insert(_ row: OriginalRow) throws(LedgerStorageError) -> OriginalRow {
        var row = row
        row.key = try OriginalRow.table.insert(row.values, connection)
        return row
    }
}

/// An original transaction, which its renewals and restored copies share.
struct OriginalRow: TableRow {
    static let table = Table(
        "originals", key: "original_key", columns: ["environment", "original_id", "xcode_second", "app_key"])

    var key: Int64
    var environment: Int64
    var originalID: String
    var xcodeSecond: Int64
    var appKey: Int64

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        key = try reader.integer()
        environment = try reader.integer()
        originalID = try reader.text()
        xcodeSecond = try reader.integer()
        appKey = try reader.integer()
    }

    init(_ original: OriginalKey, environment: Int64, appKey: Int64) {
        key = 0
        self.environment = environment
        originalID = original.transactionID.string
        xcodeSecond = original.second
        self.appKey = appKey
    }

    var values: [LedgerValue] {
        [.integer(environment), .text(originalID), .integer(xcodeSecond), .integer(appKey)]
    }
}
