import PurchaseVerification

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

struct OriginalsTable {
    /// An original by environment, number and second; the first column is the key.
    static let byNumber = ReadShape(
        OriginalRow.table.select("WHERE environment = ?1 AND original_id = ?2 AND xcode_second = ?3"),
        of: ReadScope(OriginalRow.table.name, by: "environment", "original_id", "xcode_second"),
        [.value, .value, .value], numbering: OriginalRow.table.numbering)
    static let ofNumber = ReadShape(
        OriginalRow.table.select("WHERE original_key = ?1"), of: ReadScope(OriginalRow.table.name, by: "original_key"),
        [.column(0, of: byNumber)])

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

    /// All originals with an id; there is more than one only in Xcode.
    func rows(id: String, environment: Int64) throws(LedgerStorageError) -> [OriginalRow] {
        try OriginalRow.all(
            "WHERE environment = ?1 AND original_id = ?2", [.integer(environment), .text(id)], connection)
    }

    /// All originals with an id, of every environment.
    func rows(id: String) throws(LedgerStorageError) -> [OriginalRow] {
        try OriginalRow.query(
            OriginalRow.table.select(
                "WHERE environment IN (SELECT environment_key FROM environments) AND original_id = ?1"),
            [.text(id)], connection)
    }

    func insert(_ row: OriginalRow) throws(LedgerStorageError) -> OriginalRow {
        var row = row
        row.key = try OriginalRow.table.insert(row.values, connection)
        return row
    }
}
