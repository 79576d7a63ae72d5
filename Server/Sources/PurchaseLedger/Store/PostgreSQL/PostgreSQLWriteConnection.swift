/// The connection of one write of a transaction. Only the thread of its session uses it.
///
/// A planned write uses the rows that the transaction has prefetched, and its changes are buffered. If it needs another row, it
/// ends with `isIncomplete`, and runs again after that row was read. If it reads a table that it has changed, the buffered
/// changes are sent to the server first, and from then on the write runs on the server, inside a savepoint.
final class PostgreSQLWriteConnection: LedgerConnection {
    /// The number of buffered changes at which they are sent.
    private static let maximumChanges = 512
    /// The number of rounds after which a write runs on the server, because it may need another row in each round.
    private static let maximumRounds = 24

    private let transaction: PostgreSQLTransaction
    private let locks: LedgerLocks
    private var locked: Set<LedgerLock>?
    private var changes: [PostgreSQLChange] = []
    private var changedTables: Set<String> = []
    /// The row numbers that the write has used; it uses the same ones when it runs again.
    private var keys: [String: [Int64]] = [:]
    private var usedKeys: [String: Int] = [:]
    private var rounds = 0
    private var isDirect: Bool
    private let isPlanned: Bool
    private var isSaved = false

    /// The reads that the write needs and that are still missing.
    private(set) var missing: [LedgerStatement] = []
    /// The tables and columns for which the write needs row numbers.
    private(set) var missingKeys: [String: Int] = [:]
    /// The parts of the ledger that the write needs and has not locked.
    private(set) var needed: Set<LedgerLock> = []
    /// The first error of the server, after which the transaction cannot continue.
    private(set) var failure: LedgerStorageError?

    /// A connection for one write.
    ///
    /// - Parameter isPlanned: whether it uses prefetched rows.
    init(_ transaction: PostgreSQLTransaction, _ locks: LedgerLocks, isPlanned: Bool) {
        self.transaction = transaction
        self.locks = locks
        (self.isPlanned, isDirect) = (isPlanned, !isPlanned)
        if case .parts(let parts) = locks { locked = parts } else { locked = nil }
    }

    /// Whether it ended because a row was not read yet.
    var isIncomplete: Bool { !missing.isEmpty || !missingKeys.isEmpty }

    /// Begins the write, for the first time or again.
    func begin() {
        (changes, changedTables, usedKeys) = ([], [], [:])
        (missing, missingKeys, needed) = ([], [:], [])
        rounds += 1
        if rounds > Self.maximumRounds { isDirect = true }
    }

    /// Ends the write, and adds its changes to those of the transaction.
    func end() {
        if isSaved {
            for index in changes.indices { changes[index].isOrdered = true }
            var release = PostgreSQLChange(text: transaction.session.texts["RELEASE SAVEPOINT job"], parameters: [])
            release.isOrdered = true
            changes.append(release)
        }
        transaction.add(changes)
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
        return try output(of: sql, parameters)?.changes ?? 0
    }

    func rows(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> [LedgerRow] {
        try rows(sql, parameters, despiteChangesOf: [])
    }

    func rows(
        _ sql: String, _ parameters: [LedgerValue], despiteChangesOf tables: [String]
    ) throws(LedgerStorageError) -> [LedgerRow] {
        if !isDirect {
            let text = transaction.session.texts[sql]
            let changed = tables.isEmpty ? changedTables : changedTables.subtracting(tables)
            if !text.isQuery || text.names(changed) { isDirect = true }
        }
        guard !isDirect else { return try output(of: sql, parameters)?.rows ?? [] }
        let statement = LedgerStatement(sql, parameters)
        if let rows = transaction.rows(statement, new: keys) { return rows }
        missing.append(statement)
        throw LedgerStorageError(.conflict, "a row is read in the next round")
    }

    func send(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) {
        try change(PostgreSQLChange(text: transaction.session.texts[sql], parameters: parameters))
    }

    func insert(_ sql: String, key: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> Int64? {
        guard let insertion = transaction.session.texts[sql].insertion, insertion.tail.isEmpty, locked != nil else {
            guard var reader = try rows("\(sql) RETURNING \(key)", parameters).first?.reader else { return nil }
            return try reader.integer()
        }
        let numbering = "\(insertion.table).\(key)"
        guard let number = number(numbering) else {
            guard isDirect else {
                missingKeys[numbering, default: 0] += 1
                throw LedgerStorageError(.conflict, "a number is reserved in the next round")
            }
            guard var reader = try rows("\(sql) RETURNING \(key)", parameters).first?.reader else { return nil }
            return try reader.integer()
        }
        let text = transaction.session.texts[insertion.withKey(key)]
        try change(PostgreSQLChange(text: text, parameters: parameters + [.integer(number)]))
        return number
    }

    var looksBeforeInserting: Bool { locked != nil }

    private func number(_ numbering: String) -> Int64? {
        let used = usedKeys[numbering, default: 0]
        if let taken = keys[numbering], used < taken.count {
            usedKeys[numbering] = used + 1
            return taken[used]
        }
        guard let number = transaction.key(numbering) else { return nil }
        keys[numbering, default: []].append(number)
        usedKeys[numbering] = used + 1
        return number
    }

    private func change(_ change: PostgreSQLChange) throws(LedgerStorageError) {
        changes.append(change)
        if let table = change.text.changedTable { changedTables.insert(table) }
        guard changes.count >= Self.maximumChanges else { return }
        isDirect = true
        _ = try output(of: nil, [])
    }

    /// Sends the changes and a statement.
    private func output(
        of sql: String?, _ parameters: [LedgerValue]
    ) throws(LedgerStorageError) -> PostgreSQLSession.Output? {
        var statements: [PostgreSQLStatement] = []
        let isWriting = !changes.isEmpty || sql.map { !transaction.session.texts[$0].isQuery } ?? false
        // A planned write can turn out to need another lock, and runs again in the same transaction.
        if transaction.isShared || isPlanned, !isSaved, isWriting {
            isSaved = true
            statements.append(PostgreSQLStatement("SAVEPOINT job", [LedgerValue]()))
        }
        statements += changes.map(\.statement)
        changes = []
        if let sql { statements.append(PostgreSQLStatement(sql, parameters)) }
        do throws(LedgerStorageError) {
            return try transaction.run(statements).last
        } catch {
            failure = failure ?? error
            throw error
        }
    }

    // MARK: Locks

    var locksParts: Bool { locked != nil }

    func lock(_ parts: [LedgerLock]) throws(LedgerStorageError) {
        guard let locked else { return }
        let missing = parts.filter { !locked.contains($0) }
        guard !missing.isEmpty else { return }
        needed.formUnion(missing)
        throw LedgerStorageError(.conflict, "the write needs more locks")
    }
}
