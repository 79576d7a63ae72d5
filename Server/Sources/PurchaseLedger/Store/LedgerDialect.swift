extension LedgerDialect {
    public var renumbering: [String] { [] }
    public var scratchSchema: [String] { [] }
    public var rowsPerInsert: Int { 1 }
    public var unlimitedTime: [String] { [] }
    public var withoutIndexes: (table: String, begin: [String], end: [String]) { ("NOT INDEXED", [], []) }
    public var otherProcesses: String? { nil }
    public var surroundingsQuery: String? { nil }
    public var auditSettings: [String] { [] }

    /// Whether the database has the table of migrations.
    func hasMigrations(_ connection: any LedgerConnection) throws(LedgerStorageError) -> Bool {
        try has(table: "schema_migrations", connection)
    }
}

/// The statements that portable SQL cannot express.
public protocol LedgerDialect: Sendable {
    /// The engine's form of a `CREATE TABLE` or `CREATE INDEX` in portable types. A table that ends in `WITHOUT ROWID`
    /// is stored in the order of its primary key, if the engine supports that.
    func definition(_ sql: String) -> String

    /// Statements that make the engine number new rows above those that were inserted with explicit numbers; none if it
    /// does so anyway.
    var renumbering: [String] { get }

    /// Statements that let a transaction create tables beside those of the ledger; none if the engine cannot.
    var scratchSchema: [String] { get }

    /// The number of rows of one `INSERT` when many rows are inserted.
    var rowsPerInsert: Int { get }

    /// Statements that remove the time limits for the queries of the transaction, and for the time between them.
    var unlimitedTime: [String] { get }

    /// What a query that reads a table without its indexes has behind the name of the table, and the statements before
    /// and after it. An index that lacks rows hides them from every other reading.
    var withoutIndexes: (table: String, begin: [String], end: [String]) { get }

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

    /// Compares all indexes with their tables, in transactions that are not much longer than the reading of one table.
    ///
    /// - Returns: the differences, as sentences.
    func indexDifferences(_ database: any LedgerDatabase) async throws -> [String]

    /// Statements that prevent rows of a table from being changed, deleted or replaced.
    func appendOnly(_ rule: AppendOnlyRule) -> [String]

    /// Whether the database has a table.
    func has(table: String, _ connection: any LedgerConnection) throws(LedgerStorageError) -> Bool

    /// What the database says about itself.
    ///
    /// - Parameter schema: the number of its newest migration.
    func condition(
        _ connection: any LedgerConnection, schema: Int64?
    ) throws(LedgerStorageError) -> DatabaseCondition
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
