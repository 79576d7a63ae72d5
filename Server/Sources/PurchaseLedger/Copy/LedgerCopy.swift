public import PurchaseVerification

/// Moves a ledger to another database, whatever the engines: SQLite to PostgreSQL, back, or to a new file.
///
/// 1. Everything that is pending is sealed, and the source gets a note that stops all servers (`CopyMark`), in the transaction that sees
///    that nothing is pending. So the source stays as it is from then on.
/// 2. The target gets the schema and its own note, in the transaction that sees that it is empty.
/// 3. The tables are copied in the order of their keys, a page in each transaction. So the last key of a table says where an interrupted
///    copy goes on.
/// 4. Every row of the target is read and compared with the source, and the Merkle log is computed again from the target's entries.
/// 5. The source is noted to have moved; then the target's note is removed, and servers can use it.
public struct LedgerCopy: Sendable {
    /// The name under which this connects to a server of databases, which tells it from Assay's servers.
    public static let applicationName = "assay copy"
    /// How often the rest is sealed while a server still writes.
    private static let attempts = 5

    let source: any LedgerDatabase
    let target: any LedgerDatabase
    let entryKey: EntryKey
    /// What the source's log must agree with before it is copied.
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
        let id = try await begin(tables)
        let total = try await copy(tables, progress)
        try await compare(tables, total, progress)
        let outcome = try await compareLogs(rows: total)
        try await finish(id)
        return outcome
    }

    /// Lets servers use the source of a copy again. A target that was opened has the same ledger, so only one of them may be used.
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

    // MARK: 1 and 2. Notes

    /// Stops the servers of both databases, and makes the target's schema.
    ///
    /// - Returns: the id of the copy.
    private func begin(_ tables: [TablePages]) async throws -> String {
        let (known, unfinished) = (try await mark(of: source), try await mark(of: target))
        if known?.role == .target, let refusal = CopyMark.refusal(of: CopyMark.Role.target.rawValue) { throw refusal }
        if let known, let unfinished, unfinished.role == .target, unfinished.id.isSame(as: known.id) {
            requireMarks(source: known.role)
            return known.id
        }
        try await requireEmptyTarget(tables)
        try await requireKey()
        let id = RandomID.next().bytes.hexadecimal
        try await stopSource(id, known)
        try await LedgerMigrations.migrate(target, now: clock().millisecondsSince1970)
        let applied = try await source.read(.keys) { connection in
            try connection.rows(
                "SELECT number, title, applied_at FROM schema_migrations WHERE number <= ?1",
                [.integer(LedgerMigrations.current)])
        }
        let now = clock().millisecondsSince1970
        try await target.write { connection in
            try Self.requireEmpty(tables, connection)
            for pages in tables where pages.table.isSeeded {
                try connection.execute("DELETE FROM \(pages.table.name)", [])
            }
            try connection.execute("DELETE FROM schema_migrations", [])
            for row in applied {
                try connection.execute(
                    "INSERT INTO schema_migrations (number, title, applied_at) VALUES (?1, ?2, ?3)", row.values)
            }
            try CopyMark(role: .target, id: id).write(connection, now: now)
        }
        requireMarks(source: .source)
        return id
    }

    /// From now on each transaction checks that its database still has its note.
    private func requireMarks(source role: CopyMark.Role) {
        source.requireSchema(role.rawValue)
        target.requireSchema(CopyMark.Role.target.rawValue)
    }

    /// The note of a database; `nil` if it has none, or no schema.
    private func mark(of database: any LedgerDatabase) async throws -> CopyMark? {
        let dialect = database.dialect
        return try await database.read(.keys) { connection in
            guard try Self.hasSchema(connection, dialect) else { return nil }
            return try CopyMark.found(connection)
        }
    }

    private static func hasSchema(
        _ connection: any LedgerConnection, _ dialect: any LedgerDialect
    ) throws(LedgerStorageError) -> Bool {
        try SchemaComparison(dialect: dialect).definitions(connection)["table schema_migrations"] != nil
    }

    /// Refuses a target with rows or with tables that are not the ledger's, before the source is touched.
    private func requireEmptyTarget(_ tables: [TablePages]) async throws {
        let dialect = target.dialect
        try await target.read(.keys) { connection in
            guard try Self.hasSchema(connection, dialect) else {
                guard let other = try SchemaComparison(dialect: dialect).definitions(connection).keys.sorted().first
                else { return }
                throw CopyError(.targetNotEmpty, "the target has the \(other); name an empty database")
            }
            if let mark = try CopyMark.found(connection) {
                throw CopyError(
                    .targetNotEmpty,
                    mark.role == .target
                        ? "the target is an unfinished copy of another source; delete it, or name an empty database"
                        : "the target has a ledger that was moved to another database; name an empty database")
            }
            try Self.requireEmpty(tables, connection)
        }
        if try await hasSchema(target) { try await LedgerMigrations.requireCurrent(target) }
    }

    private func hasSchema(_ database: any LedgerDatabase) async throws -> Bool {
        let dialect = database.dialect
        return try await database.read(.keys) { try Self.hasSchema($0, dialect) }
    }

    private static func requireEmpty(_ tables: [TablePages], _ connection: any LedgerConnection) throws {
        for pages in tables where !pages.table.isSeeded {
            guard try pages.isEmpty(connection) else {
                throw CopyError(
                    .targetNotEmpty, "the table \(pages.table.name) of the target has rows; name an empty database")
            }
        }
    }

    /// Seals everything, and stops the servers of the source in the transaction that sees that nothing is pending.
    private func stopSource(_ id: String, _ known: CopyMark?) async throws {
        let now = clock().millisecondsSince1970
        if let known {
            // It was sealed when it was stopped. An unfinished target of before does not belong to it any more.
            source.requireSchema(known.role.rawValue)
            try await source.write { try CopyMark(role: .source, id: id).write($0, now: now) }
            return
        }
        try await LedgerMigrations.requireCurrent(source)
        try await requireNoOtherProcess()
        try await requireSigned()
        let ledger = ledger(of: source)
        let sealing = try LogSealing(ledger: ledger, signer: nil)
        for _ in 0..<Self.attempts {
            let round = try await sealing.round()
            guard round.refused.isEmpty else {
                throw CopyError(
                    .pendingRefused,
                    """
                    \(round.refused.count) entries cannot be sealed, the first is \(round.refused[0]): no server with the \
                    key wrote them; run assay audit verify
                    """)
            }
            let isStopped = try await source.write { connection in
                guard try LogPendingTable(connection: connection).count() == 0 else { return false }
                try CopyMark(role: .source, id: id).write(connection, now: now)
                return true
            }
            if isStopped { return }
        }
        throw CopyError(.sourceInUse, "a server still writes to the source; stop all its servers and try again")
    }

    /// A server that goes on would answer from a ledger that stays behind, so it is named before it is stopped.
    private func requireNoOtherProcess() async throws {
        guard let query = source.dialect.otherProcesses else { return }
        let found = try await source.read(.keys) { connection in
            var reader = try connection.rows(query, []).first?.reader
            return try reader?.integer() ?? 0
        }
        guard found == 0 else {
            throw CopyError(
                .sourceInUse,
                "\(found) connections of other processes of Assay are open; stop the servers of the source and try again"
            )
        }
    }

    /// The file of the key must be the one that the target's servers will need.
    private func requireKey() async throws {
        let id = try await source.read(.keys) { try LogStateTable(connection: $0).entryKeyID() }
        guard let id, !id.isSame(as: entryKey.id) else { return }
        throw LogError(
            .entryKeyDiffers,
            """
            the key of entries is \(entryKey.id), and the entries of the source are of key \(id); name the file of that key \
            with --entry-key
            """)
    }

    /// Compares the source's log with what was signed.
    private func requireSigned() async throws {
        let ledger = ledger(of: source)
        for checkpoint in signed {
            let edge = try await ledger.answer(LogEdge(size: checkpoint.size)).edge
            guard edge?.root() == checkpoint.root else {
                throw CopyError(
                    .signerDiffers,
                    """
                    the log of the source has another root than \(checkpoint.origin) signed at \(checkpoint.size) leaves; \
                    name the signing key of this ledger with --signing-key, or run assay audit verify
                    """)
            }
        }
    }

    /// A ledger of which only the log is read and sealed.
    private func ledger(of database: any LedgerDatabase) -> PurchaseLedger {
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
