/// A database that the ledger can be stored in. The ledger speaks portable SQL through it; everything that differs between
/// engines is behind this protocol.
///
/// A driver guarantees:
/// - A write is one transaction, or one savepoint of a shared transaction: all of it is committed, or nothing.
/// - `write` returns only after the commit is durable.
/// - What a write reads in the parts of the ledger that it locks stays true until it commits. Where two writes wait for each other,
///   one of them throws `conflict`, and nothing of it was written.
/// - A connection that breaks during the commit throws `outcomeUnknown`, and no other error.
/// - Before its first write, a transaction checks the schema's number.
/// - A read sees one committed state and never waits for a write.
///
/// In SQL, parameters are `?1`, `?2`…, in the order of the array. Types are `INTEGER` (64 bits), `TEXT` (compared as bytes) and
/// `BLOB`; a column `INTEGER PRIMARY KEY` numbers its rows.
public protocol LedgerDatabase: Sendable {
    /// The statements that are not portable.
    var dialect: any LedgerDialect { get }

    /// Reads from one committed state.
    ///
    /// - Parameter access: what is read. Lists cannot delay the reading of keys.
    /// - Throws: `LedgerStorageError`, or the error of the body.
    func read<Value: Sendable>(
        _ access: LedgerReadAccess, _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value

    /// Commits everything that the body writes, or nothing if it throws. The body can run more than once.
    ///
    /// - Parameter plan: the parts of the ledger that the body reads and changes, which are locked before it runs, and what it
    ///   will probably read.
    /// - Throws: `LedgerStorageError`, or the error of the body.
    func write<Value: Sendable>(
        plan: @escaping @Sendable () -> LedgerWritePlan,
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value

    /// Makes every later transaction that writes check the schema's number before its first write.
    ///
    /// A newer release that migrates the database while this process runs must not be written to under the old rules.
    func requireSchema(_ number: Int64)

    /// Answers every waiting write and closes the database. Later calls fail with `closed`.
    func close() async throws
}

extension LedgerDatabase {
    /// Commits everything that the body writes, under locks on parts of the ledger.
    public func write<Value: Sendable>(
        _ locks: @escaping @Sendable () -> LedgerLocks,
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        try await write(plan: { LedgerWritePlan(locks: locks()) }, body)
    }

    /// Commits everything that the body writes, while no other write runs.
    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        try await write({ .everything }, body)
    }
}

/// The two kinds of reads, which have connections of their own.
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

    /// Returns the rows of a query, or of a statement with `RETURNING`.
    func rows(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> [LedgerRow]

    /// Inserts a row into a table that numbers its rows.
    ///
    /// - Parameter key: the column of the number.
    /// - Returns: the number; `nil` if a rule of the table left the row out.
    func insert(_ sql: String, key: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> Int64?

    /// Executes a statement whose result nobody needs. A driver may send it later, with the next statement that has a result, or
    /// with the commit; its error is thrown there.
    func send(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError)

    /// Executes a statement that changes a known number of rows.
    ///
    /// - Throws: `constraint` for another number; a driver may throw it later, but before the commit.
    func send(_ sql: String, _ parameters: [LedgerValue], changing rows: Int) throws(LedgerStorageError)

    /// Returns the rows of a query, with or without what this write itself has changed in some tables before. The caller knows that
    /// these changes do not matter, or adds them to the rows.
    ///
    /// An engine that keeps writes back until the commit does not have to send them first.
    func rows(
        _ sql: String, _ parameters: [LedgerValue], despiteChangesOf tables: [String]
    ) throws(LedgerStorageError) -> [LedgerRow]

    /// Whether a row that may exist is looked for before it is inserted, so that the insertion has no result. Otherwise a rule of
    /// the table leaves it out.
    var looksBeforeInserting: Bool { get }

    /// The key up to which no event can be committed later; `nil` if events are committed in the order of their keys. A list asks
    /// before it reads anything else.
    func settledEvent() throws(LedgerStorageError) -> Int64?

    /// Whether writes lock parts of the ledger. An engine with one writer at a time has no need to.
    var locksParts: Bool { get }

    /// Locks parts of the ledger that the write did not name when it began. If one of them is not locked already, the driver
    /// begins the write again with all of them, so that nothing was read before its lock.
    func lock(_ parts: [LedgerLock]) throws(LedgerStorageError)
}

extension LedgerDialect {
    public var renumbering: [String] { [] }
    public var scratchSchema: [String] { [] }
    public var rowsPerInsert: Int { 1 }
    public var unlimitedTime: [String] { [] }
    public var otherProcesses: String? { nil }
}

extension LedgerConnection {
    public func insert(
        _ sql: String, key: String, _ parameters: [LedgerValue]
    ) throws(LedgerStorageError) -> Int64? {
        guard var reader = try rows("\(sql) RETURNING \(key)", parameters).first?.reader else { return nil }
        return try reader.integer()
    }

    public func send(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) {
        try execute(sql, parameters)
    }

    public func send(_ sql: String, _ parameters: [LedgerValue], changing rows: Int) throws(LedgerStorageError) {
        let changed = try execute(sql, parameters)
        guard changed == rows else {
            throw LedgerStorageError(.constraint, "\(changed) rows were changed instead of \(rows): \(sql)")
        }
    }

    public func rows(
        _ sql: String, _ parameters: [LedgerValue], despiteChangesOf tables: [String]
    ) throws(LedgerStorageError) -> [LedgerRow] {
        try rows(sql, parameters)
    }

    public var looksBeforeInserting: Bool { false }

    public func settledEvent() throws(LedgerStorageError) -> Int64? { nil }

    public var locksParts: Bool { false }

    public func lock(_ parts: [LedgerLock]) throws(LedgerStorageError) {}
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
    /// The engine's form of a `CREATE TABLE` or `CREATE INDEX` in portable types. A table that ends in `WITHOUT ROWID` is stored
    /// in the order of its primary key, if the engine can do that.
    func definition(_ sql: String) -> String

    /// Statements after which new rows are numbered behind those that were inserted with numbers of their own; none if the engine
    /// does so by itself.
    var renumbering: [String] { get }

    /// Statements after which a transaction makes tables beside those of the ledger; none if the engine has no place for them.
    var scratchSchema: [String] { get }

    /// The number of rows of one `INSERT` if many are inserted.
    var rowsPerInsert: Int { get }

    /// Statements after which a query of the transaction may take as long as it needs.
    var unlimitedTime: [String] { get }

    /// A query of the number of connections that other processes of Assay have to the database; `nil` if the engine does not know.
    var otherProcesses: String? { get }

    /// A query of the kind, name and definition of each table, index and trigger.
    var schemaQuery: String { get }

    /// Statements after which the rows of a table can be neither changed, deleted nor replaced.
    func appendOnly(_ rule: AppendOnlyRule) -> [String]
}

/// A table whose rows stay as they were written.
public struct AppendOnlyRule: Sendable {
    /// The table.
    public var table: String
    /// The columns that never change.
    public var columns: [String]
    /// The unique columns: a row whose value in one of them exists already is refused.
    public var keys: [String]
    /// The columns that can be set to null, which is how a customer's data is erased.
    public var erasable: [String]
    /// The columns that can be set to null and filled again: evidence that was erased can be sent again.
    public var refillable: [String] = []
    /// Whether the row of an existing key is silently left out instead of refused. Such a table is written without a look.
    public var ignoresDuplicates = false
}
