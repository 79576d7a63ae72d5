/// The connection of one write of a transaction. Only the thread of its session uses it.
///
/// A planned write uses the rows that the transaction has loaded, and its changes are buffered. A row that was not
/// loaded is read at once, in a round trip of its own. If the write reads a table that it has changed, the buffered
/// changes are sent to the server first, and from then on it runs on the server, inside a savepoint.
final class PostgreSQLWriteConnection: LedgerConnection {
    /// The number of buffered changes at which they are sent.
    private static let maximumChanges = 4096

    private let transaction: PostgreSQLTransaction
    private let locks: LedgerLocks
    private var locked: Set<LedgerLock>?
    private var changes: [PostgreSQLChange] = []
    /// All changes of the write that were buffered, by table.
    private var changesByTable: [String: [PostgreSQLChange]] = [:]
    /// The row numbers that the write has used.
    private var keys: [String: [Int64]] = [:]
    private var isDirect: Bool
    private let isPlanned: Bool
    private var isSaved = false

    /// The number of round trips in the middle of the decision.
    private(set) var lateTrips = 0
    /// The parts of the ledger that the write needs and has not locked.
    private(set) var needed: Set<LedgerLock> = []
    /// The first error of the server, after which the transaction cannot continue.
    private(set) var failure: LedgerStorageError?

    /// A connection for one write.
    ///
    /// - Parameter isPlanned: whether it uses loaded rows.
    init(_ transaction: PostgreSQLTransaction, _ locks: LedgerLocks, isPlanned: Bool) {
        self.transaction = transaction
        self.locks = locks
        (self.isPlanned, isDirect) = (isPlanned, !isPlanned)
        if case .parts(let parts) = locks { locked = parts } else { locked = nil }
    }

    /// Ends the write, and adds its changes to those of the transaction.
    func end() {
        if isSaved {
            for index in changes.indices { changes[index].isOrdered = true }
            changes.append(.end)
        }
        transaction.add(changes, isComplete: !isSaved)
        changes = []
    }

    /// Rolls the write back.
    func undo() throws(LedgerStorageError) {
        changes = []
        guard isSaved else { return }
        isSaved = false
        _ = try transaction.session.run([
            PostgreSQLStatement("ROLLBACK TO SAVEPOINT job", [LedgerValue]()),
            PostgreSQLStatement("RELEASE SAVEPOINT job", [LedgerValue]()),
        ])
    }

    // MARK: Statements

    @discardableResult
    func execute(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> Int {
        isDirect = true
        return try output(of: sql, parameters, isChange: true)?.changes ?? 0
    }

    func rows(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> [LedgerRow] {
        try rows(sql, parameters, of: nil)
    }

    func rows(
        _ sql: String, _ parameters: [LedgerValue], of scope: ReadScope?
    ) throws(LedgerStorageError) -> [LedgerRow] {
        if !isDirect, hasChanged(scope, parameters) { isDirect = true }
        guard !isDirect else { return try output(of: sql, parameters)?.rows ?? [] }
        let statement = LedgerStatement(sql, parameters)
        if let rows = transaction.rows(statement, new: keys) { return rows }
        return try noting { () throws(LedgerStorageError) in try transaction.read(statement, of: scope) }
    }

    /// Whether a change of the write can affect a query.
    private func hasChanged(_ scope: ReadScope?, _ parameters: [LedgerValue]) -> Bool {
        guard let scope else { return !changesByTable.isEmpty }
        return scope.tables.contains { table in
            changesByTable[table]?.contains { $0.affects(scope, parameters) } ?? false
        }
    }

    func changedRows(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> [LedgerRow] {
        isDirect = true
        return try output(of: sql, parameters, isChange: true)?.rows ?? []
    }

    func send(
        to table: String, _ sql: String, _ parameters: [LedgerValue]
    ) throws(LedgerStorageError) {
        try change(PostgreSQLChange(content: .statement(sql, table: table), parameters: parameters))
    }

    func insert(_ insertion: LedgerInsertion, _ parameters: [LedgerValue]) throws(LedgerStorageError) {
        let insertion = transaction.session.insertions[insertion]
        try change(PostgreSQLChange(content: .insertion(insertion), parameters: parameters))
    }

    func insert(
        _ insertion: LedgerInsertion, key: String, _ parameters: [LedgerValue]
    ) throws(LedgerStorageError) -> Int64? {
        guard locked != nil, insertion.conflict.isEmpty, let number = try number("\(insertion.table).\(key)")
        else {
            guard var reader = try changedRows("\(insertion.sql) RETURNING \(key)", parameters).first?.reader else {
                return nil
            }
            return try reader.integer()
        }
        let insertion = transaction.session.insertions[insertion, key: key]
        try change(PostgreSQLChange(content: .insertion(insertion), parameters: parameters + [.integer(number)]))
        return number
    }

    /// A number for a new row.
    ///
    /// - Returns: `nil` if the server numbers it, because the write runs there.
    private func number(_ numbering: String) throws(LedgerStorageError) -> Int64? {
        let used = keys[numbering, default: []].count
        var number = transaction.key(numbering)
        if number == nil, !isDirect {
            // Each time as many as were used, so that the number of round trips grows slowly.
            try noting { () throws(LedgerStorageError) in try transaction.reserve(max(1, used), of: numbering) }
            number = transaction.key(numbering)
        }
        if let number { keys[numbering, default: []].append(number) }
        return number
    }

    private func change(_ change: PostgreSQLChange) throws(LedgerStorageError) {
        changes.append(change)
        if !isDirect { changesByTable[change.table, default: []].append(change) }
        guard changes.count >= Self.maximumChanges else { return }
        isDirect = true
        _ = try output(of: nil, [])
    }

    /// Sends the changes and a statement.
    private func output(
        of sql: String?, _ parameters: [LedgerValue], isChange: Bool = false
    ) throws(LedgerStorageError) -> PostgreSQLSession.Output? {
        var statements: [PostgreSQLStatement] = []
        // A planned write can turn out to need another lock, and runs again in the same transaction.
        if transaction.isShared || isPlanned, !isSaved, isChange || !changes.isEmpty {
            isSaved = true
            statements.append(PostgreSQLStatement("SAVEPOINT job", [LedgerValue]()))
        }
        statements += changes.map(\.statement)
        changes = []
        if let sql { statements.append(PostgreSQLStatement(sql, parameters)) }
        return try noting { () throws(LedgerStorageError) in try transaction.run(statements).last }
    }

    /// Notes an error of the server.
    private func noting<Value>(
        _ body: () throws(LedgerStorageError) -> Value
    ) throws(LedgerStorageError) -> Value {
        lateTrips += 1
        do throws(LedgerStorageError) {
            return try body()
        } catch {
            failure = failure ?? error
            throw error
        }
    }

    func settledEntry() throws(LedgerStorageError) -> Int64? {
        isDirect = true
        let outputs = try noting { () throws(LedgerStorageError) in
            try transaction.run(changes.map(\.statement) + PostgreSQLMark.entries.queries)
        }
        changes = []
        return try PostgreSQLMark.settled(outputs.suffix(2))
    }

    func settingsNumber() throws(LedgerStorageError) -> Int64 {
        guard let number = transaction.settingsNumber else {
            throw LedgerStorageError(.schemaTooOld, "the database was not checked before a write")
        }
        return number
    }

    // MARK: Locks

    func lock(_ parts: () throws(LedgerStorageError) -> [LedgerLock]) throws(LedgerStorageError) {
        guard let locked else { return }
        let missing = try parts().filter { !locked.contains($0) }
        guard !missing.isEmpty else { return }
        needed.formUnion(missing)
        throw LedgerStorageError(.conflict, "the write needs more locks")
    }
}
