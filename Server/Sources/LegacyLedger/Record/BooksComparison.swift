/// Pages through the tables of the books, and notes what is not as it must be.
struct BooksComparison {
    let connection: any LedgerConnection
    let pageSize: Int
    private(set) var findings: [Audit.Finding] = []

    init(connection: any LedgerConnection, pageSize: Int) {
        self.connection = connection
        self.pageSize = pageSize
    }

    /// Reads a table in the order of its primary key.
    ///
    /// - Parameters:
    ///   - columns: those of the key first.
    ///   - key: the columns of the primary key, all of them texts.
    ///   - name: which of them names a row for people.
    ///   - expected: the rows that must be there, by their keys, and what to call them.
    ///   - isAsRecorded: whether a row is as the record says; `nil` if the record says nothing of it. A row that cannot be read
    ///     was changed.
    mutating func compare(
        _ table: String, _ columns: String, key: [String], name: [Int], expected: [BooksAudit.Image: String],
        _ isAsRecorded: (LedgerRow, BooksAudit.Image) throws(LedgerStorageError) -> Bool?
    ) throws(LedgerStorageError) {
        var missing = expected
        let names = key.joined(separator: ", ")
        let places = (1...key.count).map { "?\($0)" }.joined(separator: ", ")
        var last: [LedgerValue] = []
        while true {
            // The first page begins with whatever is there, also with keys that are empty or null.
            let condition = last.isEmpty ? "" : "WHERE (\(names)) > (\(places))"
            let rows = try connection.rows(
                "SELECT \(columns) FROM \(table) \(condition) ORDER BY \(names) LIMIT ?\(last.count + 1)",
                last + [.integer(Int64(pageSize))])
            for row in rows {
                last = Array(row.values.prefix(key.count))
                let image = HashChain.encoding(last)
                missing.removeValue(forKey: image)
                var verdict: Bool?
                do throws(LedgerStorageError) {
                    verdict = try isAsRecorded(row, image)
                } catch {
                    guard error.kind == .corrupt else { throw error }
                    verdict = false
                }
                guard verdict != true else { continue }
                note(
                    table, name.map { Self.text(last, $0) }.joined(separator: " "),
                    verdict == nil ? .unrecorded : .changed)
            }
            if rows.count < pageSize { break }
        }
        for name in missing.values.sorted() { note(table, name, .removed) }
    }

    /// Each original transaction has one owner, and all that was bought under it is his.
    mutating func compareOwners() throws(LedgerStorageError) {
        let same = """
            purchases.app = original_purchases.app AND purchases.environment = original_purchases.environment
            AND purchases.original_transaction_id = original_purchases.original_transaction_id
            AND purchases.customer_id = original_purchases.customer_id
            """
        for (table, other, column) in [
            ("purchases", "original_purchases", "transaction_id"),
            ("original_purchases", "purchases", "original_transaction_id"),
        ] {
            for row in try connection.rows(
                """
                SELECT \(column) FROM \(table) WHERE NOT EXISTS (SELECT 1 FROM \(other) WHERE \(same)) ORDER BY \(column)
                """, [])
            {
                note(table, Self.text(row.values, 0), .changed)
            }
        }
    }

    private mutating func note(_ table: String, _ row: String, _ kind: Audit.Finding.Kind) {
        findings.append(Audit.Finding(table: table, row: row, kind: kind))
    }

    /// A value as people name it, whatever it is.
    static func text(_ values: [LedgerValue], _ index: Int) -> String {
        guard index < values.count else { return "" }
        return switch values[index] {
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .blob(let bytes): hexadecimal(bytes)
        case .null: ""
        }
    }
}
