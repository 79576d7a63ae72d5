import PurchaseVerification

/// The rows of a table in pages, in the order of its primary key.
struct TablePages: Sendable {
    /// The maximum size of a page in bytes, unless a single row is larger.
    private static let pageBytes: Int64 = 8 << 20

    let table: StoredTable
    /// Rows of a page.
    let limit: Int
    /// The condition of the rows in SQL; `nil` for all.
    var filter: String?

    private var columns: String { table.columns.joined(separator: ", ") }
    private var order: String { table.key.joined(separator: ", ") }

    /// The rows after a key.
    func page(
        after key: [LedgerValue]?, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> [LedgerRow] {
        var limit = limit
        if !table.byteColumns.isEmpty { limit = try rowsOfPage(after: key, connection) }
        guard limit > 0 else { return [] }
        return try connection.rows(
            "SELECT \(columns) FROM \(table.name) \(condition(key)) ORDER BY \(order) LIMIT ?\(place(key))",
            (key ?? []) + [.integer(Int64(limit))])
    }

    /// Calls the body with each page.
    func forEach(_ connection: any LedgerConnection, _ body: ([LedgerRow]) throws -> Void) throws {
        var key: [LedgerValue]?
        while true {
            let rows = try page(after: key, connection)
            guard let end = rows.last else { return }
            try body(rows)
            key = self.key(of: end)
        }
    }

    /// The number of rows of the next page, determined from the lengths of the bytes before they are read.
    private func rowsOfPage(
        after key: [LedgerValue]?, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> Int {
        let lengths = table.byteColumns.map { "coalesce(length(\($0)), 0)" }.joined(separator: " + ")
        let rows = try connection.rows(
            "SELECT \(lengths) FROM \(table.name) \(condition(key)) ORDER BY \(order) LIMIT ?\(place(key))",
            (key ?? []) + [.integer(Int64(limit))])
        var bytes: Int64 = 0
        for (count, row) in rows.enumerated() {
            var reader = row.reader
            bytes += try reader.integer()
            if bytes > Self.pageBytes { return max(1, count) }
        }
        return rows.count
    }

    func key(of row: LedgerRow) -> [LedgerValue] {
        table.key.compactMap { table.columns.firstIndex(of: $0) }.map { row.values[$0] }
    }

    /// The last key; `nil` if the table is empty.
    func lastKey(_ connection: any LedgerConnection) throws(LedgerStorageError) -> [LedgerValue]? {
        let order = table.key.map { "\($0) DESC" }.joined(separator: ", ")
        return try connection.rows("SELECT \(self.order) FROM \(table.name) ORDER BY \(order) LIMIT 1", [])
            .first?.values
    }

    func isEmpty(_ connection: any LedgerConnection) throws(LedgerStorageError) -> Bool {
        try connection.rows("SELECT 1 FROM \(table.name) LIMIT 1", []).isEmpty
    }

    func count(_ connection: any LedgerConnection) throws(LedgerStorageError) -> Int64 {
        try connection.integers("SELECT count(*) FROM \(table.name)", []).first ?? 0
    }

    /// The number of rows, also of those that an index lacks.
    func count(
        _ connection: any LedgerConnection, withoutIndexes dialect: any LedgerDialect
    ) throws(LedgerStorageError) -> Int64 {
        let (suffix, begin, end) = dialect.withoutIndexes
        for sql in begin { try connection.execute(sql, []) }
        let count = try connection.integers("SELECT count(*) FROM \(table.name) \(suffix)", []).first ?? 0
        for sql in end { try connection.execute(sql, []) }
        return count
    }

    /// Inserts rows with their numbers.
    ///
    /// - Parameter most: the maximum number of rows of a statement.
    func insert(
        _ rows: [LedgerRow], most: Int, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) {
        var rest = rows[...]
        while !rest.isEmpty {
            // Only a few sizes, because each is another statement to prepare.
            let size = [most, 16, 1].first { $0 <= rest.count && $0 <= most } ?? 1
            var values: [LedgerValue] = []
            values.reserveCapacity(size * table.columns.count)
            for row in rest.prefix(size) { values += row.values }
            try connection.send(to: table.name, insertion(of: size), values)
            rest = rest.dropFirst(size)
        }
    }

    private func insertion(of rows: Int) -> String {
        let width = table.columns.count
        let places = (0..<rows).map { row in
            "(" + (1...width).map { "?\(row * width + $0)" }.joined(separator: ",") + ")"
        }
        return "INSERT INTO \(table.name) (\(columns)) VALUES \(places.joined(separator: ","))"
    }

    private func condition(_ key: [LedgerValue]?) -> String {
        let after = key.map { "(\(order)) > (\($0.indices.map { "?\($0 + 1)" }.joined(separator: ", ")))" }
        let conditions = [filter.map { "(\($0))" }, after].compactMap(\.self)
        return conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
    }

    private func place(_ key: [LedgerValue]?) -> Int { (key?.count ?? 0) + 1 }
}

extension LedgerRow {
    /// A hash under random keys of this process, so that nobody can prepare another row with the same. Text counts by
    /// its bytes.
    var fingerprint: UInt128 {
        let values = values.map(\.exact)
        let halves = [0, 1].map { half in
            var hasher = Hasher()
            hasher.combine(half)
            hasher.combine(values)
            return UInt64(bitPattern: Int64(hasher.finalize()))
        }
        return UInt128(halves[0]) << 64 | UInt128(halves[1])
    }

    /// Whether two rows have the same values; text is compared by its bytes.
    func isSame(as other: LedgerRow) -> Bool {
        values.elementsEqual(other.values) { left, right in
            if case .text(let left) = left, case .text(let right) = right { return left.isSame(as: right) }
            return left == right
        }
    }
}
