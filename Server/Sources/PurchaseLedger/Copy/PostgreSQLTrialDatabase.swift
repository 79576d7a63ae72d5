import Foundation

/// A copy of a ledger in temporary tables of PostgreSQL, on which changes are tried through the code that writes to
/// PostgreSQL.
///
/// The tables belong to one connection, and PostgreSQL removes them when it ends, also after `kill -9`. The copy is one
/// committed state. While it is read, its transaction holds what a backup holds: the locks of queries, which only a
/// change of the schema waits for. Afterwards nothing of the ledger is read or locked: the connection searches no other
/// schema, and its advisory locks have numbers of their own.
public final class PostgreSQLTrialDatabase: LedgerDatabase {
    /// Decisions recurse little, and the data that they read is on the heap.
    private static let stackBytes = 4 << 20
    private static let functions = "pg_temp."

    private let queue = PostgreSQLWriteQueue(maximumWaiting: 64)
    private let counters = PostgreSQLCounters()
    /// The group that is empty once the thread has ended.
    private let threads = DispatchGroup()

    /// Copies a ledger.
    ///
    /// - Parameter url: the address of the database, which has the current schema.
    /// - Throws: `unavailable` if the server cannot be reached, or only through a pooler; errors of the copying.
    public init(of url: String) throws(LedgerStorageError) {
        var settings = try PostgreSQLSettings(url)
        guard settings.preparesStatements else { throw Self.pooled }
        let home = try Self.home(PostgreSQLSession(settings))
        settings.isTrial = true
        let session = try PostgreSQLSession(settings, isWriter: true)
        try Self.prepare(session)
        try Self.copy(home, session)
        let writer = PostgreSQLWriter(0, queue, settings, counters, session: session)
        threads.enter()
        let thread = Thread { [threads] in
            writer.run()
            threads.leave()
        }
        thread.name = "assay.ledger.trial"
        thread.stackSize = Self.stackBytes
        thread.start()
    }

    public var dialect: any LedgerDialect { PostgreSQLDialect(functions: Self.functions) }

    /// Only the connection that writes can read its temporary tables.
    public func read<Value: Sendable>(
        _ access: LedgerReadAccess, _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        try await write(body)
    }

    public func write<Value: Sendable>(
        plan: @escaping @Sendable () -> LedgerWritePlan,
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { queue.submit(PostgreSQLWrite(plan(), body, $0)) }
    }

    public func requireSchema(_ number: Int64) { counters.require(schema: number) }

    public func close() async throws {
        queue.close()
        await withCheckedContinuation { continuation in
            threads.notify(queue: .global()) { continuation.resume() }
        }
    }

    // MARK: The copy

    private static let pooled = LedgerStorageError(
        .unavailable,
        """
        the address leads to a pooler, and a dry run needs a connection of its own for its temporary tables; name the address \
        of PostgreSQL with --database
        """)

    /// The name of the ledger's schema, quoted.
    private static func home(_ session: PostgreSQLSession) throws(LedgerStorageError) -> String {
        let query = """
            SELECT quote_ident(nspname) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
            WHERE pg_class.oid = to_regclass('schema_migrations')
            """
        guard var reader = try session.run([PostgreSQLStatement(query, [LedgerValue]())]).last?.rows.first?.reader
        else { throw LedgerStorageError(.schemaTooOld, "the database has no schema of Assay") }
        return try reader.text()
    }

    /// Requires a connection without a pooler, which would leave the temporary tables to another client.
    private static func prepare(_ session: PostgreSQLSession) throws(LedgerStorageError) {
        let process = try session.run([PostgreSQLStatement("SELECT pg_backend_pid()::bigint", [LedgerValue]())])
        guard process.last?.rows.first?.values == [.integer(session.process)] else { throw pooled }
        // PostgreSQL then ends a long statement, too, if this process is killed. Version 14 introduced it.
        let check = """
            SELECT set_config(name, '5000', false) FROM pg_settings WHERE name = 'client_connection_check_interval'
            """
        _ = try session.run([PostgreSQLStatement(check, [LedgerValue]())])
    }

    private static func copy(_ home: String, _ session: PostgreSQLSession) throws(LedgerStorageError) {
        let transaction = PostgreSQLTransaction(session, isShared: false)
        let connection = PostgreSQLWriteConnection(transaction, .everything, isPlanned: false)
        do throws(LedgerStorageError) {
            try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ", [])
            let dialect = PostgreSQLDialect(functions: functions)
            for sql in dialect.unlimitedTime { try connection.execute(sql, []) }
            try LedgerMigrations.create(connection, dialect)
            try fill("schema_migrations", ["number", "title", "applied_at"], from: home, connection)
            for table in try StoredTable.all() {
                if table.isSeeded { try connection.execute("DELETE FROM \(table.name)", []) }
                try fill(table.name, table.columns, from: home, connection)
            }
            for sql in dialect.renumbering { try connection.execute(sql, []) }
            try transaction.commit()
        } catch {
            transaction.rollBack()
            throw error
        }
    }

    /// Copies a table. Its triggers protect rows that exist.
    private static func fill(
        _ table: String, _ columns: [String], from home: String, _ connection: PostgreSQLWriteConnection
    ) throws(LedgerStorageError) {
        let names = columns.joined(separator: ", ")
        for sql in [
            "ALTER TABLE \(table) DISABLE TRIGGER USER",
            "INSERT INTO \(table) (\(names)) SELECT \(names) FROM \(home).\(table)",
            "ALTER TABLE \(table) ENABLE TRIGGER USER", "ANALYZE \(table)",
        ] {
            try connection.execute(sql, [])
        }
    }
}
