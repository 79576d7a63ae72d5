/// A database that the ledger can be stored in. The ledger speaks portable SQL through it; everything that differs between
/// engines is behind this protocol.
///
/// A driver guarantees:
/// - A write is one transaction, or one savepoint of a shared transaction: all of it is committed, or nothing.
/// - `write` returns only after the commit is durable.
/// - What a write reads stays true until it commits. An engine that cannot guarantee this by locking throws `conflict`.
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

    /// Commits everything that the body writes, or nothing if it throws.
    ///
    /// - Throws: `LedgerStorageError`, or the error of the body.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value

    /// Makes every later transaction that writes check the schema's number before its first write.
    ///
    /// A newer release that migrates the database while this process runs must not be written to under the old rules.
    func requireSchema(_ number: Int64)

    /// Answers every waiting write and closes the database. Later calls fail with `closed`.
    func close() async throws
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
}

/// The statements that portable SQL cannot express.
public protocol LedgerDialect: Sendable {
    /// The engine's form of a `CREATE TABLE` or `CREATE INDEX` in portable types. A table that ends in `WITHOUT ROWID` is stored
    /// in the order of its primary key, if the engine can do that.
    func definition(_ sql: String) -> String

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
