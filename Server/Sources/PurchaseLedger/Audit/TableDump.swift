/// The rows of a table in a form that does not depend on the numbers of a database.
struct TableDump: Sendable {
    /// What differs from the rule that every column is compared.
    struct Difference: Sendable {
        /// The only columns that are compared.
        var only: [String]?
        /// The columns that are not compared.
        var without: Set<String> = []
        /// Expressions that are compared instead of columns.
        var replaced: [String: String] = [:]
        /// The columns that identify a row, if the primary key does not.
        var key: [String]?
        /// The rows that are compared; `nil` for all.
        var condition: String?
    }

    let name: String
    /// The number of columns that identify a row. They come first.
    let keyCount: Int
    /// The names of the columns, such as `original_key.environment.name`.
    let names: [String]
    /// The primary key of the table, which orders the pages.
    private let pageKey: [String]
    private let columns: String
    private let source: String
    private let condition: String?

    /// All columns of a table but its own number, which another database can number otherwise.
    init(_ table: StoredTable, _ difference: Difference = Difference()) {
        let target = TableReferences.target(table.name)
        let compared = table.columns.filter { column in
            column != target?.number && !difference.without.contains(column)
                && difference.only?.contains(column) ?? true
        }
        let key = difference.key ?? target?.identity ?? table.key
        var identities = TableIdentities(table.name)
        for column in key { identities.add(column, of: table.name) }
        keyCount = identities.columns.count
        for column in compared where !key.contains(column) {
            // The replacement can name the row that the column refers to.
            guard let replacement = difference.replaced[column] else {
                identities.add(column, of: table.name)
                continue
            }
            identities.join(column, of: table.name)
            identities.add(replacement, named: column)
        }
        (name, condition) = (table.name, difference.condition)
        names = identities.columns.map(\.name)
        pageKey = table.key.map { "\(table.name).\($0)" }
        columns = identities.columns.map(\.expression).joined(separator: ", ")
        source = identities.source
    }

    /// A page of rows: the primary key, and the dumped columns.
    struct Page: Sendable {
        var rows: [[LedgerValue]] = []
        /// The start of the next page; `nil` after the last one.
        var next: [LedgerValue]?
    }

    /// Reads the rows after a primary key.
    func page(
        after key: [LedgerValue]?, limit: Int, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> Page {
        let order = pageKey.joined(separator: ", ")
        let places = pageKey.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let conditions = [key.map { _ in "(\(order)) > (\(places))" }, condition].compactMap(\.self)
        let condition = conditions.isEmpty ? "" : "WHERE " + conditions.map { "(\($0))" }.joined(separator: " AND ")
        let rows = try connection.rows(
            "SELECT \(order), \(columns) FROM \(source) \(condition) ORDER BY \(order) LIMIT \(limit)", key ?? [])
        var page = Page()
        page.rows.reserveCapacity(rows.count)
        for row in rows { page.rows.append(row.values.dropFirst(pageKey.count).map(\.exact)) }
        if rows.count == limit { page.next = rows.last.map { Array($0.values.prefix(pageKey.count)) } }
        return page
    }

    /// The rows of a number, by their keys.
    ///
    /// - Parameter condition: a condition that begins with a column of the table.
    func rows(
        where condition: String, _ number: Int64, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> [[LedgerValue]: [LedgerValue]] {
        var rows: [[LedgerValue]: [LedgerValue]] = [:]
        for row in try connection.rows(
            "SELECT \(columns) FROM \(source) WHERE \(name).\(condition)", [.integer(number)])
        {
            add(row.values.map(\.exact), to: &rows)
        }
        return rows
    }

    /// A query of a column of the rows that are compared.
    func query(_ column: String) -> String {
        "SELECT \(column) FROM \(source)" + (condition.map { " WHERE \($0)" } ?? "")
    }

    /// Adds a row. Of two rows with the same key both are compared; otherwise one would hide the other.
    func add(_ values: [LedgerValue], to rows: inout [[LedgerValue]: [LedgerValue]]) {
        var key = Array(values.prefix(keyCount))
        while rows[key] != nil { key.append(.null) }
        rows[key] = Array(values.dropFirst(keyCount))
    }

    /// The differences between the rows of the ledger and those of a rebuild.
    func findings(
        ledger: [[LedgerValue]: [LedgerValue]], rebuilt: [[LedgerValue]: [LedgerValue]]
    ) -> [AuditFinding] {
        var findings: [AuditFinding] = []
        for (key, row) in ledger {
            guard let expected = rebuilt[key] else {
                findings.append(AuditFinding(kind: .rowUnknown, detail: "\(name) \(Self.text(key))"))
                continue
            }
            guard row != expected else { continue }
            let columns = zip(row, expected).enumerated().filter { $0.element.0 != $0.element.1 }.map {
                "\(names[$0.offset + keyCount]): \(Self.text([$0.element.0])) instead of \(Self.text([$0.element.1]))"
            }
            findings.append(
                AuditFinding(
                    kind: .rowDiffers, detail: "\(name) \(Self.text(key)): \(columns.joined(separator: ", "))"))
        }
        for key in rebuilt.keys where ledger[key] == nil {
            findings.append(AuditFinding(kind: .rowMissing, detail: "\(name) \(Self.text(key))"))
        }
        return findings.sorted { $0.detail < $1.detail }
    }

    private static func text(_ values: [LedgerValue]) -> String {
        values.map { value in
            switch value {
            case .null: "null"
            case .integer(let number): "\(number)"
            case .text(let text): text
            case .blob(let bytes):
                bytes.allSatisfy { (0x20..<0x7F).contains($0) }
                    ? String(decoding: bytes.prefix(64), as: UTF8.self) : Array(bytes.prefix(32)).hexadecimal
            }
        }.joined(separator: "/")
    }
}
