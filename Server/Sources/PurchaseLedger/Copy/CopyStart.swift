import PurchaseVerification
import TextFormats

/// Starts a copy: writes a note to both databases, or changes nothing and throws the reason.
struct CopyStart {
    /// How often pending entries are sealed while a server still writes.
    private static let attempts = 5

    let copy: LedgerCopy
    let tables: [TablePages]

    private var source: any LedgerDatabase { copy.source }
    private var target: any LedgerDatabase { copy.target }

    /// Stops the servers of both databases, and creates the target's schema.
    ///
    /// - Returns: the id of the copy.
    func id() async throws -> String {
        let (known, unfinished) = (try await Self.mark(of: source), try await Self.mark(of: target))
        if known?.role == .target, let refusal = CopyMark.refusal(of: CopyMark.Role.target.rawValue) { throw refusal }
        if let known, let unfinished, unfinished.role == .target, unfinished.id.isSame(as: known.id) {
            requireMarks(source: known.role)
            return known.id
        }
        try await Self.requireEmpty(target, tables)
        try await LedgerCopy.require(copy.entryKey, of: source)
        let id = RandomID.next().bytes.hexadecimal
        try await stopSource(id, known)
        try await LedgerMigrations.migrate(target, now: copy.clock().millisecondsSince1970)
        let applied = try await source.read(.keys) { connection in
            try connection.rows(
                "SELECT number, title, applied_at FROM schema_migrations WHERE number <= ?1",
                [.integer(LedgerMigrations.current)])
        }
        let now = copy.clock().millisecondsSince1970
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

    /// From now on, each transaction checks that its database still has its note.
    private func requireMarks(source role: CopyMark.Role) {
        source.requireSchema(role.rawValue)
        target.requireSchema(CopyMark.Role.target.rawValue)
    }

    /// The note of a database; `nil` if it has none, or no schema.
    static func mark(of database: any LedgerDatabase) async throws -> CopyMark? {
        let dialect = database.dialect
        return try await database.read(.keys) { connection in
            guard try hasSchema(connection, dialect) else { return nil }
            return try CopyMark.found(connection)
        }
    }

    private static func hasSchema(
        _ connection: any LedgerConnection, _ dialect: any LedgerDialect
    ) throws(LedgerStorageError) -> Bool {
        try SchemaComparison(dialect: dialect).definitions(connection)["table schema_migrations"] != nil
    }

    /// Refuses a target with rows or with tables that are not the ledger's, before the source is touched.
    static func requireEmpty(_ target: any LedgerDatabase, _ tables: [TablePages]) async throws {
        let dialect = target.dialect
        try await target.read(.keys) { connection in
            guard try hasSchema(connection, dialect) else {
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
            try requireEmpty(tables, connection)
        }
        if try await hasSchema(target) { try await LedgerMigrations.requireCurrent(target) }
    }

    static func hasSchema(_ database: any LedgerDatabase) async throws -> Bool {
        let dialect = database.dialect
        return try await database.read(.keys) { try hasSchema($0, dialect) }
    }

    private static func requireEmpty(_ tables: [TablePages], _ connection: any LedgerConnection) throws {
        for pages in tables where !pages.table.isSeeded {
            guard try pages.isEmpty(connection) else {
                throw CopyError(
                    .targetNotEmpty, "the table \(pages.table.name) of the target has rows; name an empty database")
            }
        }
    }

    /// Seals all entries, and stops the servers of the source in the transaction that finds no pending entry.
    private func stopSource(_ id: String, _ known: CopyMark?) async throws {
        let now = copy.clock().millisecondsSince1970
        if let known {
            // It was sealed when it was stopped. An earlier unfinished target no longer belongs to it.
            source.requireSchema(known.role.rawValue)
            try await source.write { try CopyMark(role: .source, id: id).write($0, now: now) }
            return
        }
        try await LedgerMigrations.requireCurrent(source)
        try await LedgerCopy.requireUnused(source)
        try await requireSigned()
        let ledger = copy.ledger(of: source)
        let sealing = try LogSealing(ledger: ledger, signer: nil)
        for _ in 0..<Self.attempts {
            let round = try await sealing.round()
            guard round.refusedInAll == 0 else {
                throw CopyError(
                    .pendingRefused,
                    """
                    \(counted(Int(round.refusedInAll), "entry is", "entries are")) not in the log: no server with the key \
                    wrote them; run assay audit verify
                    """)
            }
            let isStopped = try await source.write { connection in
                guard try LogStateTable(connection: connection).pending().count == 0 else { return false }
                try CopyMark(role: .source, id: id).write(connection, now: now)
                return true
            }
            if isStopped { return }
        }
        throw CopyError(.sourceInUse, "a server still writes to the source; stop all its servers and try again")
    }

    /// Compares the source's log with the signed checkpoints.
    private func requireSigned() async throws {
        let ledger = copy.ledger(of: source)
        for checkpoint in copy.signed {
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
}
