/// A database in which the ledger can be stored. The ledger uses portable SQL; everything that differs between engines
/// is behind this protocol.
///
/// A driver guarantees:
/// - A write is one transaction, or one savepoint of a shared transaction: all of it is committed, or nothing.
/// - `write` returns only after the commit is durable.
/// - The data that a write reads in the parts of the ledger that it locks stays unchanged until it commits. If two
///   writes wait for each other, one of them throws `conflict`, and nothing of it was written.
/// - If the connection breaks during the commit, the error is `outcomeUnknown`; it is never thrown otherwise.
/// - Before its first write, a transaction checks the schema's number and the version of the rules.
/// - A read sees one committed state and never waits for a write.
///
/// In SQL, parameters are `?1`, `?2`…, in the order of the array. Types are `INTEGER` (64 bits), `TEXT` (compared as
/// bytes) and `BLOB`; a column `INTEGER PRIMARY KEY` numbers its rows.
public protocol LedgerDatabase: Sendable {
    /// The statements that are not portable.
    var dialect: any LedgerDialect { get }

    /// Reads from one committed state.
    ///
    /// - Parameter access: the kind of read. Lists cannot delay the reading of keys.
    /// - Throws: `LedgerStorageError`, or the error of the body.
    func read<Value: Sendable>(
        _ access: LedgerReadAccess, _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value

    /// Commits all changes of the body, or none if it throws. The body can run more than once.
    ///
    /// - Parameter plan: the parts of the ledger that the body reads and changes, which are locked before it runs, and
    ///   the rows that it will probably read.
    /// - Throws: `LedgerStorageError`, or the error of the body.
    func write<Value: Sendable>(
        plan: @escaping @Sendable () -> LedgerWritePlan,
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value

    /// Makes every later transaction that writes check the number of the schema, and the rules, before its first write.
    ///
    /// Otherwise this process could keep writing under the old rules after a newer release migrated the database.
    func requireSchema(_ number: Int64)

    /// What its writers have done since it was opened, and what waits for them.
    var load: DatabaseLoad { get }

    /// Answers every waiting write and closes the database. Later calls fail with `closed`.
    func close() async throws
}

extension LedgerDatabase {
    /// A database that does not count its writes.
    public var load: DatabaseLoad { DatabaseLoad() }

    /// Commits all changes of the body, under locks on parts of the ledger.
    public func write<Value: Sendable>(
        _ locks: @escaping @Sendable () -> LedgerLocks,
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        try await write(plan: { LedgerWritePlan(locks: locks()) }, body)
    }

    /// Commits all changes of the body, while no other write runs.
    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        try await write({ .everything }, body)
    }
}
