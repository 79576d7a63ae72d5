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

    /// The key up to which no event can be committed later; `nil` if events are committed in the order of their keys. A
    /// list reads it before anything else.
    func settledEvent() throws(LedgerStorageError) -> Int64?

    /// The key up to which no journal entry can be committed later; `nil` if entries are committed in the order of
    /// their keys.
    func settledEntry() throws(LedgerStorageError) -> Int64?

    /// The number of the settings in force, which grows whenever an app's settings change. It was read after the locks
    /// of the write.
    func settingsNumber() throws(LedgerStorageError) -> Int64

    /// Locks parts of the ledger that the write did not name when it began. If one of them is not locked yet, the
    /// driver restarts the write with all of them, so that nothing was read before it was locked.
    ///
    /// - Parameter parts: computes the parts. An engine with one writer at a time locks nothing, and does not call it.
    func lock(_ parts: () throws(LedgerStorageError) -> [LedgerLock]) throws(LedgerStorageError)
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

    public func settledEvent() throws(LedgerStorageError) -> Int64? { nil }
    public func settledEntry() throws(LedgerStorageError) -> Int64? { nil }

    public func settingsNumber() throws(LedgerStorageError) -> Int64 {
        let rows = try rows("SELECT max(settings_key) FROM settings_history", [], of: ["settings_history"])
        guard var reader = rows.first?.reader else { return 0 }
        return try reader.optionalInteger() ?? 0
    }

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

/// The insertion of a row of values into a table.
///
/// An engine on another machine can join several insertions of the same kind into one statement.
public struct LedgerInsertion: Sendable {
    /// The table.
    public let table: String
    /// The columns, in the order of the values.
    public let columns: [String]
    /// The columns of the unique key that a row can already have; none if such a row is refused.
    public let conflict: [String]
    /// What happens to such a row. It has no parameters.
    public let resolution: String
    /// Portable SQL with the values `?1`, `?2`…
    public let sql: String

    /// An insertion of rows.
    ///
    /// - Parameters:
    ///   - conflict: the columns of the unique key that a row can already have; none if such a row is refused.
    ///   - resolution: `DO NOTHING` or `DO UPDATE SET …`.
    public init(_ table: String, _ columns: [String], onConflict conflict: [String] = [], _ resolution: String = "") {
        (self.table, self.columns, self.conflict, self.resolution) = (table, columns, conflict, resolution)
        let places = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let tail = conflict.isEmpty ? "" : " ON CONFLICT (\(conflict.joined(separator: ", "))) \(resolution)"
        sql = "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(places))\(tail)"
    }
}
