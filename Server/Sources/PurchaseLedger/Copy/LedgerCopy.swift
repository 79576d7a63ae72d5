public import PurchaseVerification

/// Moves a ledger to another database, whatever the engines: SQLite to PostgreSQL, back, or to a new file.
///
/// 1. Everything that is pending is sealed, and the source gets a note that stops all servers (`CopyMark`), in the
///    transaction that sees that nothing is pending. So the source stays as it is from then on (`CopyStart`).
/// 2. The target gets the schema and its own note, in the transaction that sees that it is empty.
/// 3. The tables are copied in the order of their keys, a page in each transaction. So the last key of a table says where
///    an interrupted copy goes on.
/// 4. Every row of the target is read and compared with the source, and the Merkle log is computed again from the target's
///    entries.
/// 5. The source is noted to have moved; then the target's note is removed, and servers can use it.
public struct LedgerCopy: Sendable {
    /// The name under which this connects to a server of databases, which tells it from Assay's servers.
    public static let applicationName = "assay copy"

    let source: any LedgerDatabase
    let target: any LedgerDatabase
    let entryKey: EntryKey
    /// The checkpoints that the source's log must agree with before it is copied.
    let signed: [Checkpoint]
    let clock: @Sendable () -> Timestamp
    /// Rows of a page.
    package var pageRows = 2048

    /// A copy of a ledger to an empty database.
    ///
    /// - Parameters:
    ///   - source: the database with the ledger. No server may use it.
    ///   - target: the empty database, or an unfinished copy of the source.
    ///   - entryKey: the key of the source's entries.
    ///   - signed: checkpoints that the log must agree with.
    ///   - clock: the time of the notes.
    public init(
        from source: any LedgerDatabase, to target: any LedgerDatabase, entryKey: EntryKey, signed: [Checkpoint] = [],
        clock: @escaping @Sendable () -> Timestamp
    ) {
        (self.source, self.target, self.entryKey, self.signed, self.clock) = (source, target, entryKey, signed, clock)
    }

    /// Copies the ledger, or goes on with a copy that was interrupted.
    ///
    /// - Parameter progress: is called after each page. An error that it throws interrupts the copy.
    /// - Throws: `CopyError`, `LedgerStorageError`, `LogError`.
    public func run(progress: (CopyProgress) throws -> Void = { _ in }) async throws -> CopyOutcome {
        let tables = try StoredTable.all().map { TablePages(table: $0, limit: pageRows) }
        let id = try await CopyStart(copy: self, tables: tables).id()
        let total = try await copy(tables, progress)
        try await compare(tables, total, progress)
        let outcome = try await compareLogs(rows: total)
        try await finish(id)
        return outcome
    }

    /// Lets servers use the source of a copy again. A target that was opened has the same ledger, so only one of them
    /// may be used.
    ///
    /// - Returns: whether the copy had ended.
    /// - Throws: `CopyError` (`notCopied`), `LedgerStorageError`.
    public static func reopen(_ source: any LedgerDatabase) async throws -> Bool {
        try await source.write { connection in
            guard let mark = try CopyMark.found(connection), mark.role != .target else {
                throw CopyError(.notCopied, "the database is not the source of a copy; there is nothing to open again")
            }
            try CopyMark.remove(connection)
            return mark.role == .moved
        }
    }

    /// A ledger of which only the log is read and sealed.
    func ledger(of database: any LedgerDatabase) -> PurchaseLedger {
        PurchaseLedger(
            database: database, verifier: PurchaseVerifier(anchors: TrustAnchor.apple), registry: Registry(apps: []),
            clock: clock, entryKey: entryKey)
    }

    // MARK: 3. Tables

    /// Copies what the target lacks.
    ///
    /// - Returns: the rows of all tables.
    private func copy(_ tables: [TablePages], _ progress: (CopyProgress) throws -> Void) async throws -> Int64 {
        let total = try await count(tables, in: source)
        let before = try await count(tables, in: target)
        var state = CopyProgress(step: .copying, table: "", done: before, doneBefore: before, total: total)
        let most = target.dialect.rowsPerInsert
        for pages in tables {
            state.table = pages.table.name
            let last = try await target.read(.keys) { try pages.lastKey($0) }
            var page = try await read(pages, after: last, from: source)
            while let end = page.last.map({ pages.key(of: $0) }) {
                let rows = page
                async let following = read(pages, after: end, from: source)
                try await target.write({ .parts([]) }) { try pages.insert(rows, most: most, $0) }
                state.done += Int64(rows.count)
                try progress(state)
                page = try await following
            }
        }
        return total
    }

    private func read(
        _ pages: TablePages, after key: [LedgerValue]?, from database: any LedgerDatabase
    ) async throws -> [LedgerRow] {
        try await database.read(.lists) { try pages.page(after: key, $0) }
    }

    private func count(_ tables: [TablePages], in database: any LedgerDatabase) async throws -> Int64 {
        let dialect = database.dialect
        return try await database.read(.lists) { connection in
            for sql in dialect.unlimitedTime { try connection.execute(sql, []) }
            var count: Int64 = 0
            for pages in tables { count += try pages.count(connection) }
            return count
        }
    }

    // MARK: 4. Comparison

    /// Reads both databases again, row by row.
    private func compare(
        _ tables: [TablePages], _ total: Int64, _ progress: (CopyProgress) throws -> Void
    ) async throws {
        var state = CopyProgress(step: .comparing, table: "", done: 0, doneBefore: 0, total: total)
        for pages in tables {
            state.table = pages.table.name
            var key: [LedgerValue]?
            repeat {
                let start = key
                async let expected = read(pages, after: start, from: source)
                let found = try await read(pages, after: start, from: target)
                let rows = try await expected
                guard rows.count == found.count, zip(rows, found).allSatisfy({ $0.isSame(as: $1) }) else {
                    throw CopyError(
                        .tablesDiffer,
                        """
                        the table \(pages.table.name) of the target differs after row \(state.done - state.doneBefore); \
                        check the disks, delete the target and copy again
                        """)
                }
                state.done += Int64(rows.count)
                key = rows.last.map { pages.key(of: $0) }
                try progress(state)
            } while key != nil
        }
    }

    /// Computes the Merkle log from the target's entries, and compares it with the source's.
    private func compareLogs(rows: Int64) async throws -> CopyOutcome {
        let expected = try await ledger(of: source).answer(LogEdge(size: nil))
        let copied = ledger(of: target)
        let found = try await copied.answer(LogEdge(size: nil))
        let report = try await copied.auditLog(
            signed + [Checkpoint(origin: "source", size: expected.size, root: expected.root)])
        guard found.size == expected.size, found.root == expected.root, report.findings.isEmpty else {
            let finding = report.findings.first.map { ": \($0.kind.rawValue), \($0.detail)" } ?? ""
            throw CopyError(
                .logDiffers,
                """
                the log of the target has \(report.findings.count) findings\(finding); open the source with assay copy \
                --reopen and run assay audit verify on it
                """)
        }
        return CopyOutcome(
            rows: rows, leaves: found.size, root: found.root.bytes.hexadecimal, entryKeyID: entryKey.id)
    }

    // MARK: 5. The end

    /// The source ends first: at no moment do both accept servers.
    private func finish(_ id: String) async throws {
        let now = clock().millisecondsSince1970
        try await source.write { try CopyMark(role: .moved, id: id).write($0, now: now) }
        let renumbering = target.dialect.renumbering
        try await target.write { connection in
            try CopyMark.remove(connection)
            for sql in renumbering { try connection.execute(sql, []) }
        }
    }
}
