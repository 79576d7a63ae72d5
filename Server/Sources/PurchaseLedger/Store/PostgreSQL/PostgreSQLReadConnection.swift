/// A PostgreSQL connection that reads, inside a transaction or with a single statement. Only the thread of its session
/// uses it.
final class PostgreSQLReadConnection: LedgerConnection {
    private let session: PostgreSQLSession
    private let hasTransaction: Bool
    private var isBegun = false

    /// - Parameter isStatement: whether its only statement needs no transaction, and so no second round trip.
    init(_ session: PostgreSQLSession, isStatement: Bool = false) {
        self.session = session
        // Without a search path of the connection, each transaction sets it.
        hasTransaction = !isStatement || !session.searchPath.isEmpty
    }

    @discardableResult
    func execute(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> Int {
        try output(of: sql, parameters)?.changes ?? 0
    }

    func rows(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> [LedgerRow] {
        try output(of: sql, parameters)?.rows ?? []
    }

    /// The transaction begins with its first statement.
    private func output(
        of sql: String, _ parameters: [LedgerValue]
    ) throws(LedgerStorageError) -> PostgreSQLSession.Output? {
        var statements = [PostgreSQLStatement(sql, parameters)]
        if hasTransaction, !isBegun {
            isBegun = true
            let begin = PostgreSQLStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", [LedgerValue]())
            statements = [begin] + session.searchPath + statements
        }
        return try session.run(statements).last
    }

    /// Ends the transaction.
    func end() {
        guard !session.isLost, session.isInTransaction else { return }
        do throws(LedgerStorageError) {
            _ = try session.run([PostgreSQLStatement("ROLLBACK", [LedgerValue]())])
        } catch {
            // The connection is lost, which also ends the transaction. The next user of the session notices.
        }
    }

    /// The key up to which no event can be committed later.
    ///
    /// Keys are assigned before the commit, so an event can be committed after one with a higher key. Before a writer
    /// assigns keys, it locks the last assigned key until it ends. So: read the last assigned key, then the lowest
    /// locked one; in a transaction that begins after both, no event up to the lower of the two can still be added.
    func settledEvent() throws(LedgerStorageError) -> Int64? {
        try settled("events_event_key_seq", PostgreSQLLockNumbers.eventMark)
    }

    /// The key up to which no journal entry can be committed later.
    func settledEntry() throws(LedgerStorageError) -> Int64? {
        try settled("journal_entry_key_seq", PostgreSQLLockNumbers.entryMark)
    }

    private func settled(_ sequence: String, _ mark: Int64) throws(LedgerStorageError) -> Int64? {
        guard !isBegun else {
            throw LedgerStorageError(.other, "events and entries are read at the beginning of a transaction that reads")
        }
        let last = try number("SELECT last_value FROM \(sequence)", [])
        let lowest = try number(
            """
            SELECT min(((classid::bigint & 65535) << 32) | objid::bigint) FROM pg_locks
            WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND classid::bigint >> 16 = ?1
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            """, [.integer(mark >> 48)])
        return [last, lowest].compactMap { $0 }.min()
    }

    /// The result of a query in a transaction of its own.
    private func number(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> Int64? {
        var statements = [PostgreSQLStatement(sql, parameters)]
        let path = session.searchPath
        if !path.isEmpty {
            statements = [PostgreSQLStatement("BEGIN", [LedgerValue]())] + path + statements
            statements.append(PostgreSQLStatement("ROLLBACK", [LedgerValue]()))
        }
        let outputs = try session.run(statements)
        guard var reader = outputs[path.isEmpty ? 0 : path.count + 1].rows.first?.reader else { return nil }
        return try reader.optionalInteger()
    }
}
