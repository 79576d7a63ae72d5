/// A transaction that several writes share. It needs few round trips: one locks and reads the rows that the writes will
/// probably need, and one writes and commits. Any other row takes a round trip of its own.
///
/// Only the thread of its session uses it.
final class PostgreSQLTransaction {
    /// Tables whose rows belong to no part of the ledger: names that get a number when they are first seen.
    private static let dictionaries: Set<String> = ["products", "environments", "evidence_parts", "apps"]

    let session: PostgreSQLSession
    /// Whether several writes share it.
    let isShared: Bool
    /// The changes of finished writes that were not sent to the server yet.
    private var pending: [PostgreSQLChange] = []
    /// The rows that were read for the current writes.
    private var known: [LedgerStatement: PostgreSQLKnownRows] = [:]
    /// The changes of finished writes that the rows do not show; `nil` if some of them were only executed.
    private var unseen: [PostgreSQLChange]? = []
    /// The expected queries, by text.
    private var shapes: [String: [ReadShape]] = [:]
    /// The number of the settings in force; `nil` before the database has a schema.
    private(set) var settingsNumber: Int64?
    /// The numbers that were reserved for new rows, by table and column.
    private var keys: [String: ArraySlice<Int64>] = [:]

    init(_ session: PostgreSQLSession, isShared: Bool) {
        self.session = session
        self.isShared = isShared
    }

    // MARK: Begin

    /// Begins, locks parts of the ledger, and reads, in one round trip.
    ///
    /// Each lock is a separate statement before all reads: under READ COMMITTED, a read sees what was committed before
    /// it begins. The parts are locked in the same order everywhere, so that deadlocks are rare.
    func begin(
        _ locks: LedgerLocks, schema: Int64?, limits: [LedgerStatement], reads: [ExpectedRead],
        insertions: [String: Int]
    ) throws(LedgerStorageError) {
        var statements = [PostgreSQLStatement("BEGIN ISOLATION LEVEL READ COMMITTED", [LedgerValue]())]
        statements += session.searchPath + limits.map(PostgreSQLStatement.init)
        switch locks {
        case .everything:
            statements.append(
                PostgreSQLStatement("SELECT pg_advisory_xact_lock(?1)", [.integer(PostgreSQLLockNumbers.everything)]))
        case .parts(let parts):
            statements.append(
                PostgreSQLStatement(
                    "SELECT pg_advisory_xact_lock_shared(?1)", [.integer(PostgreSQLLockNumbers.everything)]))
            let named = Set(parts.map(PostgreSQLLockNumbers.part)).subtracting([PostgreSQLLockNumbers.everything])
            if !named.isEmpty {
                statements.append(
                    PostgreSQLStatement(
                        "SELECT pg_advisory_xact_lock(part) FROM unnest(?1) AS part",
                        [.list(named.sorted().map(LedgerValue.integer))]))
            }
        }
        var place: Int?
        if schema != nil {
            place = statements.count
            statements += [
                PostgreSQLStatement(SchemaNumber.inForceQuery, [LedgerValue]()),
                PostgreSQLMark.taking,
            ]
        }
        let fetch = PostgreSQLFetch(reads, insertions)
        let (outputs, failure) = try session.runAll(statements + fetch.statements)
        // Under a newer schema, other statements can fail as well.
        if let schema, let place, failure == nil || !outputs[place].command.isEmpty {
            settingsNumber = try SchemaNumber.require(schema, found: outputs[place].rows)
        }
        if let failure { throw failure }
        try take(outputs.dropFirst(statements.count), of: fetch)
    }

    // MARK: Reading

    /// The result of a read that was already made.
    ///
    /// - Parameter new: the numbers of rows that the write has just inserted; no other row refers to them.
    func rows(_ statement: LedgerStatement, new: [String: [Int64]]) -> [LedgerRow]? {
        if let known = known[statement] { return known.rows }
        for shape in shapes[statement.sql] ?? [] {
            for (parameter, value) in zip(shape.parameters, statement.parameters) {
                guard case .column(0, of: let other) = parameter, let numbering = other.numbering,
                    case .integer(let number) = value, new[numbering]?.contains(number) == true
                else { continue }
                return []
            }
        }
        return nil
    }

    /// The loaded rows of a read: none if a row that it refers to does not exist; `nil` if it was not loaded.
    func rows(of read: ExpectedRead) -> [LedgerRow]? {
        guard let statement = read.shape.statement(read.values[...], rows: { known[$0]?.rows }) else { return [] }
        return known[statement]?.rows
    }

    /// Makes rows those after the finished writes: from the changes of these writes if they say enough, otherwise by
    /// reading them again in one round trip, after the pending changes were sent.
    ///
    /// - Parameter later: further rows, which are read again at the same time.
    func advance(_ reads: [ExpectedRead], later: [ExpectedRead]) throws(LedgerStorageError) {
        if let changes = unseen {
            unseen = []
            show(changes)
            if reads.allSatisfy({ isLoaded($0.shape, $0.values[...]) }) { return }
        }
        (known, unseen) = ([:], [])
        try loadMore(reads + later, [:])
    }

    /// Lays the changes of finished writes over the rows, and forgets those of which the changes do not say enough.
    private func show(_ changes: [PostgreSQLChange]) {
        let changes = Dictionary(grouping: changes, by: \.table)
        guard !changes.isEmpty else { return }
        for (statement, rows) in known {
            switch rows.effect(of: changes, statement.parameters) {
            case .none: break
            case .rows(let rows): known[statement] = rows
            case .unknown: known[statement] = nil
            }
        }
    }

    /// Whether a query and those that it refers to were read.
    private func isLoaded(_ shape: ReadShape, _ values: ArraySlice<LedgerValue>) -> Bool {
        var rest = values
        for parameter in shape.parameters {
            switch parameter {
            case .value: rest = rest.dropFirst()
            case .column(_, let other):
                guard isLoaded(other, rest.prefix(other.valueCount)) else { return false }
                rest = rest.dropFirst(other.valueCount)
            }
        }
        guard let statement = shape.statement(values, rows: { known[$0]?.rows }) else { return true }
        return known[statement] != nil
    }

    /// Loads further rows, and reserves further numbers, in one round trip, after the pending changes were sent.
    func loadMore(_ reads: [ExpectedRead], _ insertions: [String: Int]) throws(LedgerStorageError) {
        let fetch = PostgreSQLFetch(reads, insertions)
        try take(try run(fetch.statements)[...], of: fetch)
    }

    /// Reads rows that were not loaded, after the pending changes were sent.
    func read(_ statement: LedgerStatement, of scope: ReadScope?) throws(LedgerStorageError) -> [LedgerRow] {
        let rows = try run([PostgreSQLStatement(statement)]).last?.rows ?? []
        known[statement] = PostgreSQLKnownRows(rows: rows, scope: scope, isLate: true)
        return rows
    }

    /// Reserves numbers for new rows of a table.
    func reserve(_ count: Int, of numbering: String) throws(LedgerStorageError) {
        try loadMore([], [numbering: count])
    }

    /// Sends the pending changes, and then statements in order.
    func run(_ statements: [PostgreSQLStatement]) throws(LedgerStorageError) -> [PostgreSQLSession.Output] {
        let changes = PostgreSQLChange.statements(pending)
        pending = []
        return Array(try session.run(changes + statements).dropFirst(changes.count))
    }

    /// Locks more parts for writes that turned out to need them, without waiting. Reads again afterwards, because rows
    /// must be read and numbers reserved after the lock.
    ///
    /// - Returns: for each set of parts, whether all of them are locked.
    func lock(
        _ parts: [Set<LedgerLock>], _ reads: [ExpectedRead], _ insertions: [String: Int]
    ) throws(LedgerStorageError) -> [Bool] {
        (known, keys, unseen) = ([:], [:], [])
        let fetch = PostgreSQLFetch(reads, insertions)
        let changes = PostgreSQLChange.statements(pending)
        pending = []
        let locks = parts.map { parts in
            PostgreSQLStatement(
                "SELECT min(pg_try_advisory_xact_lock(part)::int)::bigint FROM unnest(?1) AS part",
                [.list(parts.map(PostgreSQLLockNumbers.part).sorted().map(LedgerValue.integer))])
        }
        let outputs = try session.run(changes + locks + fetch.statements)
        try take(outputs.dropFirst(changes.count + locks.count), of: fetch)
        return outputs.dropFirst(changes.count).prefix(locks.count).map { $0.rows.first?.values == [.integer(1)] }
    }

    private func take(
        _ outputs: ArraySlice<PostgreSQLSession.Output>, of fetch: PostgreSQLFetch
    ) throws(LedgerStorageError) {
        try fetch.take(Array(outputs), &known, &keys)
        for shape in fetch.shapes where !(shapes[shape.sql]?.contains { $0 === shape } ?? false) {
            shapes[shape.sql, default: []].append(shape)
        }
    }

    /// A number for a new row, if one was reserved.
    func key(_ numbering: String) -> Int64? { keys[numbering]?.popFirst() }

    // MARK: Writing

    /// Adds the changes of a finished write.
    ///
    /// - Parameter isComplete: whether these are all of its changes, and none was sent before.
    func add(_ changes: [PostgreSQLChange], isComplete: Bool) {
        pending += changes
        if isComplete { unseen? += changes } else { unseen = nil }
        let dictionaries = Set(changes.lazy.map(\.table)).intersection(Self.dictionaries)
        guard !dictionaries.isEmpty else { return }
        // The next write must find the row.
        known = known.filter { $0.value.scope.map { dictionaries.isDisjoint(with: $0.tables) } ?? false }
    }

    /// Sends the pending changes, and commits.
    ///
    /// - Throws: `outcomeUnknown` if the connection is lost before PostgreSQL answers.
    func commit() throws(LedgerStorageError) {
        let outputs: [PostgreSQLSession.Output]
        do throws(LedgerStorageError) {
            outputs = try run([.confirmation, PostgreSQLStatement("COMMIT", [LedgerValue]())])
        } catch {
            guard session.isLost else { throw error }
            throw LedgerStorageError(.outcomeUnknown, error.detail)
        }
        guard outputs.last?.command == "COMMIT" else {
            throw LedgerStorageError(
                .other, "PostgreSQL ended the transaction with \(outputs.last?.command ?? "nothing")")
        }
    }

    /// Rolls the transaction back.
    func rollBack() {
        pending = []
        guard !session.isLost, session.isInTransaction else { return }
        do throws(LedgerStorageError) {
            _ = try session.run([PostgreSQLStatement("ROLLBACK", [LedgerValue]())])
        } catch {
            // The connection is lost, which also ends the transaction. The next user of the session notices.
        }
    }
}
