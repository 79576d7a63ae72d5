public import PurchaseVerification
import TextFormats

/// Moves a ledger to another database of any engine: from SQLite to PostgreSQL, back, or to a new file.
///
/// 1. Seals every pending entry. The transaction that finds none pending writes a note to the source that stops all
/// servers (`CopyMark`), so the source no longer changes (`CopyStart`).
/// 2. Creates the schema in the target, and writes its note in the transaction that finds it empty.
/// 3. Copies the tables in the order of their keys, one page per transaction. An interrupted copy continues after the
/// last key of a table.
/// 4. Compares every row of the target with the source, and computes the Merkle log again from the target's entries.
/// 5. Marks the source as moved, then removes the target's note, so that servers can use the target.
public struct LedgerCopy: Sendable {
    /// The application name of this program's connections to a database server; it distinguishes them from those of
    /// Assay's servers.
    public static let applicationName = "assay database copy"

    let source: any LedgerDatabase
    let target: any LedgerDatabase
    let entryKey: EntryKey
    /// The checkpoints that the source's log must agree with before it is copied.
    let signed: [Checkpoint]
    let clock: @Sendable () -> Timestamp
    package var pageRows = 2048

    /// A copy of a ledger to an empty database.
    ///
    /// - Parameters:
    ///   - source: the database with the ledger. No server may use it.
    ///   - target: the empty database, or an unfinished copy of the source.
    ///   - entryKey: the key of the source's entries.
    ///   - signed: checkpoints that the log must agree with.
    ///   - clock: the clock for the times of the notes.
    public init(
        from source: any LedgerDatabase, to target: any LedgerDatabase, entryKey: EntryKey, signed: [Checkpoint] = [],
        clock: @escaping @Sendable () -> Timestamp
    ) {
        (self.source, self.target, self.entryKey, self.signed, self.clock) = (source, target, entryKey, signed, clock)
    }

    /// Copies the ledger, or continues an interrupted copy.
    ///
    /// - Parameters:
    ///   - progress: called after each page. An error that it throws interrupts the copy.
    ///   - opening: called with the id of the copy before servers can use the target.
    /// - Throws: `CopyError`, `LedgerStorageError`, `LogError`.
    public func run(
        progress: (CopyProgress) throws -> Void = { _ in }, opening: (String) async throws -> Void = { _ in }
    ) async throws -> CopyOutcome {
        let tables = try StoredTable.all().map { TablePages(table: $0, limit: pageRows) }
        let id = try await CopyStart(copy: self, tables: tables).id()
        let total = try await copy(tables, progress)
        try await compare(tables, total, progress)
        let outcome = try await compareLogs(rows: total)
        try await finish(id, opening)
        return outcome
    }

    /// Lets servers use the source of a copy again. If the target was opened as well, both have the same ledger; use
    /// only one of them.
    ///
    /// - Returns: whether the copy had finished.
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

    /// Refuses a target with rows or other tables.
    static func requireEmpty(_ target: any LedgerDatabase) async throws {
        try await CopyStart.requireEmpty(target, try StoredTable.all().map { TablePages(table: $0, limit: 1) })
    }

    /// Checks that a key is the one that the source's entries have.
    static func require(_ key: EntryKey, of source: any LedgerDatabase) async throws {
        let id = try await source.read(.keys) { try LogStateTable(connection: $0).entryKeyID() }
        guard let id, !id.isSame(as: key.id) else { return }
        throw LogError(
            .entryKeyDiffers,
            """
            the key of entries is \(key.id), and the entries of the source are of key \(id); name the file of that key with \
            --entry-key
            """)
    }

    /// Reports servers that still run on a database: they would answer from an outdated ledger.
    public static func requireUnused(_ database: any LedgerDatabase) async throws {
        guard let query = database.dialect.otherProcesses else { return }
        let found = try await database.read(.keys) { connection in
            var reader = try connection.rows(query, []).first?.reader
            return try reader?.integer() ?? 0
        }
        guard found == 0 else {
            throw CopyError(
                .sourceInUse,
                "\(counted(found, "connection")) of other processes of Assay \(found == 1 ? "is" : "are") open; stop the servers of the source and try again"
            )
        }
    }

    /// A ledger that is used only to read and seal the log.
    func ledger(of database: any LedgerDatabase) -> PurchaseLedger {
        PurchaseLedger(
            database: database, verifier: PurchaseVerifier(anchors: TrustAnchor.apple), settings: RegistryInForce(),
            clock: clock, entryKey: entryKey)
    }

    // MARK: 3. Tables

    /// Copies the rows that the target lacks.
    ///
    /// - Returns: the number of rows of all tables.
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
                the log of the target has \(report.findings.count) findings\(finding); open the source with assay database copy \
                --reopen and run assay audit verify on it
                """)
        }
        return CopyOutcome(
            rows: rows, leaves: found.size, root: found.root.bytes.hexadecimal, entryKeyID: entryKey.id)
    }

    // MARK: 5. The end

    /// The source is closed first, so that servers can never use both databases at once.
    private func finish(_ id: String, _ opening: (String) async throws -> Void) async throws {
        let now = clock().millisecondsSince1970
        try await source.write { try CopyMark(role: .moved, id: id).write($0, now: now) }
        try await opening(id)
        try await Self.open(target, id)
    }

    /// Lets servers use the target of a copy.
    static func open(_ target: any LedgerDatabase, _ id: String) async throws {
        target.requireSchema(CopyMark.Role.target.rawValue)
        let renumbering = target.dialect.renumbering
        try await target.write { connection in
            guard try CopyMark.found(connection) == CopyMark(role: .target, id: id) else {
                throw CopyError(.targetNotEmpty, "the target is no longer the unfinished copy; delete it")
            }
            try CopyMark.remove(connection)
            for sql in renumbering { try connection.execute(sql, []) }
        }
    }
}
