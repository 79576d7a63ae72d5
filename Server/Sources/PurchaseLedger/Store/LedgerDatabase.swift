/// A database in which the ledger can be stored. The ledger uses portable SQL; everything that differs between engines
/// is behind this protocol.
///
/// A driver guarantees:
/// - A write is one transaction, or one savepoint of a shared transaction: all of it is committed, or nothing.
/// - `write` returns only after the commit is durable.
/// - The data that a write reads in the parts of the ledger that it locks stays unchanged until it commits. If two
///   writes wait for each other, one of them throws `conflict`, and nothing of it was written.
/// - If the connection breaks during the commit, the error is `outcomeUnknown`; it is never thrown otherwise.
/// - Before its first write, a transaction checks the schema's number.
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

    /// Makes every later transaction that writes check the schema's number before its first write.
    ///
    /// Otherwise this process could keep writing under the old rules after a newer release migrated the database.
    func requireSchema(_ number: Int64)

    /// Answers every waiting write and closes the database. Later calls fail with `closed`.
    func close() async throws
}

extension LedgerDatabase {
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

/// The two kinds of reads, which use separate connections.
public enum LedgerReadAccess: Sendable {
    /// A few rows found by a key: API keys, orders, entitlements.
    case keys
    /// Pages of a list, or a whole table.
    case lists
}

/// A connection to the database, inside a transaction.
public protocol LedgerConnection {
    /// Executes a statement.
    ///
    /// - Returns: the number of rows that it inserted, changed or deleted.
    @discardableResult
    func execute(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> Int

    /// Returns the rows of a query, with all changes of this write.
    func rows(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> [LedgerRow]

    /// Returns the rows of a query, with this write's changes to some rows. Its changes to other rows do not matter to
    /// the query, or the caller adds them. An engine that buffers changes until the commit does not have to send these.
    ///
    /// - Parameter scope: these rows; `nil` for all.
    func rows(
        _ sql: String, _ parameters: [LedgerValue], of scope: ReadScope?
    ) throws(LedgerStorageError) -> [LedgerRow]

    /// Executes a statement that changes rows, and returns them (`RETURNING`).
    func changedRows(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> [LedgerRow]

    /// Inserts a row into a table that numbers its rows.
    ///
    /// - Parameter key: the column of the number.
    /// - Returns: the number; `nil` if a rule of the table skipped the row.
    func insert(
        _ insertion: LedgerInsertion, key: String, _ parameters: [LedgerValue]
    ) throws(LedgerStorageError) -> Int64?

    /// Inserts a row. A driver may send it later, as with `send`.
    func insert(_ insertion: LedgerInsertion, _ parameters: [LedgerValue]) throws(LedgerStorageError)

    /// Executes a statement that changes a table and whose result is not needed. A driver may send it later, with the
    /// next statement that has a result, or with the commit; its error is then thrown there.
    func send(to table: String, _ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError)

    /// Whether a row that may exist is looked up before it is inserted, so that the insertion has no result. Otherwise
    /// a rule of the table skips an existing row.
    var looksBeforeInserting: Bool { get }

    /// The key up to which no event can be committed later; `nil` if events are committed in the order of their keys. A
    /// list reads it before anything else.
    func settledEvent() throws(LedgerStorageError) -> Int64?

    /// The key up to which no journal entry can be committed later; `nil` if entries are committed in the order of
    /// their keys.
    func settledEntry() throws(LedgerStorageError) -> Int64?

    /// Locks parts of the ledger that the write did not name when it began. If one of them is not locked yet, the
    /// driver restarts the write with all of them, so that nothing was read before it was locked.
    ///
    /// - Parameter parts: computes the parts. An engine with one writer at a time locks nothing, and does not call it.
    func lock(_ parts: () throws(LedgerStorageError) -> [LedgerLock]) throws(LedgerStorageError)
}

extension LedgerDialect {
    public var hasOneWriter: Bool { true }
    public var renumbering: [String] { [] }
    public var scratchSchema: [String] { [] }
    public var rowsPerInsert: Int { 1 }
    public var unlimitedTime: [String] { [] }
    public var otherProcesses: String? { nil }
    public var surroundingsQuery: String? { nil }
    public var auditSettings: [String] { [] }
}

extension LedgerConnection {
    /// Returns the rows of a query with a shape.
    func rows(_ shape: ReadShape, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> [LedgerRow] {
        try rows(shape.sql, parameters, of: shape.scope)
    }

    public func rows(
        _ sql: String, _ parameters: [LedgerValue], of scope: ReadScope?
    ) throws(LedgerStorageError) -> [LedgerRow] {
        try rows(sql, parameters)
    }

    public func changedRows(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> [LedgerRow] {
        try rows(sql, parameters)
    }

    public func insert(
        _ insertion: LedgerInsertion, key: String, _ parameters: [LedgerValue]
    ) throws(LedgerStorageError) -> Int64? {
        guard var reader = try changedRows("\(insertion.sql) RETURNING \(key)", parameters).first?.reader else {
            return nil
        }
        return try reader.integer()
    }

    public func insert(_ insertion: LedgerInsertion, _ parameters: [LedgerValue]) throws(LedgerStorageError) {
        try execute(insertion.sql, parameters)
    }

    public func send(
        to table: String, _ sql: String, _ parameters: [LedgerValue]
    ) throws(LedgerStorageError) {
        try execute(sql, parameters)
    }

    public var looksBeforeInserting: Bool { false }

    public func settledEvent() throws(LedgerStorageError) -> Int64? { nil }
    public func settledEntry() throws(LedgerStorageError) -> Int64? { nil }

    public func lock(_ parts: () throws(LedgerStorageError) -> [LedgerLock]) throws(LedgerStorageError) {}
}

/// A statement with its parameters.
public struct LedgerStatement: Sendable, Hashable {
    /// Portable SQL.
    public let sql: String
    /// The values of `?1`, `?2`…
    public let parameters: [LedgerValue]

    /// A statement with its parameters.
    public init(_ sql: String, _ parameters: [LedgerValue]) {
        self.sql = sql
        self.parameters = parameters
    }
}

/// The statements that portable SQL cannot express.
public protocol LedgerDialect: Sendable {
    /// The engine's form of a `CREATE TABLE` or `CREATE INDEX` in portable types. A table that ends in `WITHOUT ROWID`
    /// is stored in the order of its primary key, if the engine supports that.
    func definition(_ sql: String) -> String

    /// Whether entries are committed in the order of their numbers. The default is `true`.
    var hasOneWriter: Bool { get }

    /// Statements that make the engine number new rows above those that were inserted with explicit numbers; none if it
    /// does so anyway.
    var renumbering: [String] { get }

    /// Statements that let a transaction create tables beside those of the ledger; none if the engine cannot.
    var scratchSchema: [String] { get }

    /// The number of rows of one `INSERT` when many rows are inserted.
    var rowsPerInsert: Int { get }

    /// Statements that remove the time limit for the queries of the transaction.
    var unlimitedTime: [String] { get }

    /// A query for the number of connections of other Assay processes to the database; `nil` if the engine cannot count
    /// them.
    var otherProcesses: String? { get }

    /// A query of the kind, name and definition of each table, index and trigger.
    var schemaQuery: String { get }

    /// A query of the kind and name of objects that are not part of the schema and change what its tables show; `nil`
    /// if the engine has none.
    var surroundingsQuery: String? { get }

    /// Statements with which each transaction of an audit begins.
    var auditSettings: [String] { get }

    /// Statements that make all indexes again from their tables.
    var reindexing: [String] { get }

    /// Compares all indexes with their tables, in transactions that are not much longer than the reading of one table.
    ///
    /// - Returns: the differences, as sentences.
    func indexDifferences(_ database: any LedgerDatabase) async throws -> [String]

    /// Statements that prevent rows of a table from being changed, deleted or replaced.
    func appendOnly(_ rule: AppendOnlyRule) -> [String]
}

/// A table whose rows never change.
public struct AppendOnlyRule: Sendable {
    public var table: String
    /// The columns that never change.
    public var columns: [String]
    /// The unique columns: a row with an existing value in one of them is refused.
    public var keys: [String]
    /// The columns that can be set to null, which is how a customer's data is erased.
    public var erasable: [String]
    /// The columns that can be set to null and filled again: evidence that was erased can be sent again.
    public var refillable: [String] = []
    /// Whether a row with an existing key is silently skipped instead of refused. Rows of such a table are inserted
    /// without a lookup.
    public var ignoresDuplicates = false
}
