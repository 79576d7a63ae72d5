import PurchaseVerification

/// Compares a table of the ledger with that of a rebuild, with only a few pages in memory.
///
/// Each row is hashed under a random key of this process, so nobody can prepare rows whose hashes cancel each other.
/// The hashes are summed in buckets by the row's key: two tables with the same rows have the same sums. Only the rows
/// of buckets that differ are read again and compared.
struct TableComparison {
    private static let buckets = 1 << 16
    /// The number of buckets that are compared in detail. More differ only if much is wrong; then these are examples.
    private static let examined = 256
    private static let page = 1024

    let table: TableDump
    let ledger: any LedgerDatabase
    let rebuilt: any LedgerDatabase

    /// The differences between the tables.
    ///
    /// - Returns: the findings, and the number of differing buckets that were not compared.
    func findings() async throws -> (findings: [AuditFinding], unexamined: Int) {
        async let present = sums(of: ledger)
        let expected = try await sums(of: rebuilt)
        let found = try await present
        let different = expected.indices.filter { expected[$0] != found[$0] }
        guard !different.isEmpty else { return ([], 0) }
        let examined = Set(different.prefix(Self.examined))
        let findings = table.findings(
            ledger: try await rows(of: ledger, in: examined), rebuilt: try await rows(of: rebuilt, in: examined))
        return (findings, different.count - examined.count)
    }

    private func sums(of database: any LedgerDatabase) async throws -> [UInt64] {
        var sums = [UInt64](repeating: 0, count: Self.buckets)
        try await read(database) { row in
            sums[bucket(of: row)] &+= hash(row[...])
        }
        return sums
    }

    private func rows(
        of database: any LedgerDatabase, in buckets: Set<Int>
    ) async throws -> [[LedgerValue]: [LedgerValue]] {
        var rows: [[LedgerValue]: [LedgerValue]] = [:]
        try await read(database) { row in
            if buckets.contains(bucket(of: row)) { table.add(row, to: &rows) }
        }
        return rows
    }

    private func read(_ database: any LedgerDatabase, _ body: ([LedgerValue]) -> Void) async throws {
        var key: [LedgerValue]?
        repeat {
            let (start, table) = (key, table)
            let page = try await database.read(.lists) { connection in
                try table.page(after: start, limit: Self.page, connection)
            }
            for row in page.rows { body(row) }
            key = page.next
        } while key != nil
    }

    private func bucket(of row: [LedgerValue]) -> Int {
        Int(truncatingIfNeeded: hash(row.prefix(table.keyCount)) % UInt64(Self.buckets))
    }

    private func hash(_ values: ArraySlice<LedgerValue>) -> UInt64 {
        // The standard library seeds each process at random.
        var hasher = Hasher()
        hasher.combine(Array(values))
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
