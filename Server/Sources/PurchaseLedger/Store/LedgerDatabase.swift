public import PurchaseVerification

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

/// The addresses of databases: `sqlite:PATH`, `postgres://…` and `postgresql://…`.
public enum LedgerDatabases {
    /// Whether an address is that of a PostgreSQL server.
    public static func isPostgreSQL(_ address: String) -> Bool {
        address.hasPrefix("postgres://") || address.hasPrefix("postgresql://")
    }

    /// Opens the database of an address; a SQLite file is created if it does not exist.
    public static func open(_ address: String) throws -> any LedgerDatabase {
        if isPostgreSQL(address) { return try PostgreSQLDatabase(url: address) }
        return try SQLiteDatabase(path: String(address.trimmingPrefix("sqlite:")))
    }

    /// An address whose engine is not looked at (`PostgreSQLEngine`).
    public static func allowingAnyEngine(_ address: String) -> String {
        guard isPostgreSQL(address) else { return address }
        return address + (address.contains("?") ? "&" : "?") + "assay_unsupported_engine=on"
    }

    /// An address in a form that can be shown: without the password, the parameters, and anything else that can hold a
    /// secret.
    public static func withoutSecrets(_ address: String) -> String {
        guard isPostgreSQL(address), let start = address.firstRange(of: "://")?.upperBound else { return address }
        let rest = address[start...].prefix { $0 != "?" }
        // A password can hold an at sign; the last one ends it.
        guard let end = rest.lastIndex(of: "@") else { return String(address[..<start] + rest) }
        let user = rest[..<end].prefix { $0 != ":" }
        return String(address[..<start] + user + rest[end...])
    }
}

/// The kinds of reads.
public enum LedgerReadAccess: Sendable {
    /// A few rows found by a key: API keys, orders, entitlements.
    case keys
    /// The same with a single statement. It sees one committed state by itself, so an engine can leave out the
    /// transaction around it. It has the connections of `keys`.
    case statement
    /// Pages of a list, or a whole table. They have connections of their own.
    case lists
    /// What leaves the ledger for good, because it is signed or delivered. If a standby can take over, it is answered
    /// once the standby has all of it. It has connections of its own.
    case confirmed
}

/// The rows that a query reads, as far as changes by the same write matter to it.
public struct ReadScope: Sendable, ExpressibleByArrayLiteral {
    /// The tables.
    public let tables: [String]
    /// The columns of the first table that the first parameters are compared with; none if each of its rows matters.
    private let columns: [String]

    /// All rows of some tables.
    public init(arrayLiteral tables: String...) { (self.tables, columns) = (tables, []) }

    /// The rows of a table that have the first parameters of the query in some columns.
    ///
    /// - Parameter others: tables of which every row matters.
    public init(_ table: String, by columns: String..., and others: [String] = []) {
        (tables, self.columns) = ([table] + others, columns)
    }

    /// The columns of a table that the first parameters are compared with; none if every row of it matters.
    func columns(of table: String) -> [String] { table == tables.first ? columns : [] }
}

/// What a write needs besides, as its first rows show.
struct LedgerNeeds: Sendable {
    /// Further parts of the ledger that it reads and changes.
    var parts: Set<LedgerLock> = []
    /// Further rows that it will probably read.
    var reads: [ExpectedRead] = []
    /// Further rows that it will probably insert into tables that number their rows, by `table.column`.
    var insertions: [String: Int] = [:]
}

/// A database whose transactions begin with the engine's settings for an audit.
struct AuditedDatabase: LedgerDatabase {
    let database: any LedgerDatabase

    var dialect: any LedgerDialect { database.dialect }
    var load: DatabaseLoad { database.load }

    func read<Value: Sendable>(
        _ access: LedgerReadAccess, _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        let settings = dialect.auditSettings
        return try await database.read(access) { connection in
            for sql in settings { try connection.execute(sql, []) }
            return try body(connection)
        }
    }

    func write<Value: Sendable>(
        plan: @escaping @Sendable () -> LedgerWritePlan,
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        try await database.write(plan: plan, body)
    }

    func requireSchema(_ number: Int64) { database.requireSchema(number) }

    func close() async throws { try await database.close() }
}

/// What the writers of a database have done since it was opened, and what waits for them. An operator's monitor reads
/// it; it costs no access to the database.
public struct DatabaseLoad: Sendable, Equatable {
    /// The writes that wait for a transaction now.
    public var waiting = 0
    /// How long each commit took, in seconds: until the disk, or PostgreSQL, has confirmed it.
    public var commits = Distribution(bounds: [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ])
    /// The number of writes in each committed transaction.
    public var batches = Distribution(bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256])

    /// A load of nothing.
    public init() {}

    /// Adds a committed transaction.
    mutating func add(writes: Int, commitSeconds: Double) {
        commits.add(commitSeconds)
        batches.add(Double(writes))
    }
}

/// What a database says about itself, for an operator who examines an installation.
public struct DatabaseCondition: Sendable, Equatable {
    /// The number of its newest migration; `nil` if it has no schema of Assay.
    public let schema: Int64?
    /// Its size in bytes.
    public let bytes: Int64
    /// The size of its write-ahead log in bytes; `nil` for PostgreSQL, whose log belongs to its server.
    public let writeAheadBytes: Int64?
    /// The time of the database's machine; `nil` if it is this machine.
    public let time: Timestamp?
    /// Settings under which purchases that were answered can be lost, as `fsync = off`.
    public let unsafeSettings: [String]
    /// Whether it refuses writes, as the copy of a replicated server does.
    public let isReadOnly: Bool

    /// Reads the condition of a database of any schema.
    public init(of database: any LedgerDatabase) async throws {
        let dialect = database.dialect
        self = try await database.read(.lists) { connection in
            let schema: Int64? = try dialect.hasMigrations(connection) ? try SchemaNumber.current(connection) : nil
            return try dialect.condition(connection, schema: schema)
        }
    }

    init(
        schema: Int64?, bytes: Int64, writeAheadBytes: Int64? = nil, time: Timestamp?, unsafeSettings: [String],
        isReadOnly: Bool
    ) {
        (self.schema, self.bytes, self.writeAheadBytes, self.time) = (schema, bytes, writeAheadBytes, time)
        (self.unsafeSettings, self.isReadOnly) = (unsafeSettings, isReadOnly)
    }
}
