/// A transaction that several writes share, in few round trips: one that locks and reads what they will probably need, and one
/// that writes and commits. What they did not expect is read in rounds, for all of them together.
///
/// It is used by the thread of its session alone.
final class PostgreSQLTransaction {
    /// Parts of the ledger have negative numbers, and the places of events positive ones.
    static let partBit = Int64.min
    /// The highest 16 bits of the number under which a writer of events is known.
    static let eventMark: Int64 = 0x4153 << 48
    /// Tables whose rows belong to no part of the ledger: names that are numbered when they are first seen.
    private static let dictionaries: Set<String> = ["products", "environments", "evidence_parts", "apps"]

    let session: PostgreSQLSession
    /// Whether several writes share it.
    let isShared: Bool
    /// What the writes that are done have changed, and the server does not know yet.
    private var pending: [PostgreSQLChange] = []
    /// What was read for the present writes.
    private var known: [LedgerStatement: [LedgerRow]] = [:]
    /// The queries that were expected, by their text.
    private var shapes: [String: ReadShape] = [:]
    /// The numbers that were reserved for new rows, by table and column.
    private var keys: [String: ArraySlice<Int64>] = [:]

    init(_ session: PostgreSQLSession, isShared: Bool) {
        self.session = session
        self.isShared = isShared
    }

    // MARK: Begin

    /// Begins, locks parts of the ledger, and reads, in one round trip.
    ///
    /// Each lock is a statement of its own before every read: under READ COMMITTED, a read sees what was committed before it
    /// begins. The parts are in one order everywhere, so that two transactions that wait for each other are rare.
    func begin(
        _ locks: LedgerLocks, schema: Int64?, limits: [LedgerStatement], reads: [ExpectedRead],
        insertions: [String: Int]
    ) throws(LedgerStorageError) {
        var statements = [PostgreSQLStatement("BEGIN ISOLATION LEVEL READ COMMITTED", [LedgerValue]())]
        statements += limits.map(PostgreSQLStatement.init)
        switch locks {
        case .everything:
            statements.append(PostgreSQLStatement("SELECT pg_advisory_xact_lock(?1)", [.integer(Self.partBit)]))
        case .parts(let parts):
            statements.append(PostgreSQLStatement("SELECT pg_advisory_xact_lock_shared(?1)", [.integer(Self.partBit)]))
            let numbers = Set(parts.map { $0.number | Self.partBit }).subtracting([Self.partBit])
            if !numbers.isEmpty {
                statements.append(
                    PostgreSQLStatement(
                        "SELECT pg_advisory_xact_lock(part) FROM unnest(?1) AS part",
                        [.list(numbers.sorted().map(LedgerValue.integer))]))
            }
        }
        var place: Int?
        if schema != nil {
            place = statements.count
            statements += [
                PostgreSQLStatement(SchemaNumber.query, [LedgerValue]()),
                PostgreSQLStatement(
                    "SELECT pg_advisory_xact_lock_shared(?1 | last_value) FROM events_event_key_seq",
                    [.integer(Self.eventMark)]),
            ]
        }
        let fetch = Fetch(session.texts, reads, [], insertions)
        let (outputs, failure) = try session.runAll(statements + fetch.statements)
        // Under a newer schema other statements can fail as well.
        if let schema, let place, failure == nil || !outputs[place].command.isEmpty {
            try SchemaNumber.require(schema, found: outputs[place].rows)
        }
        if let failure { throw failure }
        try take(outputs.dropFirst(statements.count), of: fetch)
    }

    // MARK: Reading

    /// What was read, if it was.
    ///
    /// - Parameter new: the numbers of rows that the write has just made, which no other row names.
    func rows(_ statement: LedgerStatement, new: [String: [Int64]]) -> [LedgerRow]? {
        if let rows = known[statement] { return rows }
        guard let shape = shapes[statement.sql] else { return nil }
        for (parameter, value) in zip(shape.parameters, statement.parameters) {
            guard case .column(0, of: let other) = parameter, let numbering = other.numbering,
                case .integer(let number) = value, new[numbering]?.contains(number) == true
            else { continue }
            return []
        }
        return nil
    }

    /// Reads in one round trip, after everything that is pending was sent.
    ///
    /// - Parameter forgets: whether what was read before may have been changed by what is pending.
    func fetch(
        _ reads: [ExpectedRead], _ missing: [LedgerStatement], _ insertions: [String: Int], forgets: Bool
    ) throws(LedgerStorageError) {
        if forgets { known = [:] }
        let fetch = Fetch(session.texts, reads, missing, insertions)
        let changes = PostgreSQLChange.statements(pending, session.texts)
        pending = []
        let outputs = try session.run(changes + fetch.statements)
        try take(outputs.dropFirst(changes.count), of: fetch)
    }

    /// Sends everything that is pending, and statements in their order.
    func run(_ statements: [PostgreSQLStatement]) throws(LedgerStorageError) -> [PostgreSQLSession.Output] {
        let changes = PostgreSQLChange.statements(pending, session.texts)
        pending = []
        return Array(try session.run(changes + statements).dropFirst(changes.count))
    }

    /// Locks more parts for writes that turned out to need them, without waiting, and reads again: nothing may have been read before
    /// its lock, and no number reserved.
    ///
    /// - Returns: for each set of parts whether all of them are locked.
    func lock(
        _ parts: [Set<LedgerLock>], _ reads: [ExpectedRead], _ insertions: [String: Int]
    ) throws(LedgerStorageError) -> [Bool] {
        (known, keys) = ([:], [:])
        let fetch = Fetch(session.texts, reads, [], insertions)
        let changes = PostgreSQLChange.statements(pending, session.texts)
        pending = []
        let locks = parts.map { parts in
            PostgreSQLStatement(
                "SELECT min(pg_try_advisory_xact_lock(part)::int)::bigint FROM unnest(?1) AS part",
                [.list(parts.map { $0.number | Self.partBit }.sorted().map(LedgerValue.integer))])
        }
        let outputs = try session.run(changes + locks + fetch.statements)
        try take(outputs.dropFirst(changes.count + locks.count), of: fetch)
        return outputs.dropFirst(changes.count).prefix(locks.count).map { $0.rows.first?.values == [.integer(1)] }
    }

    private func take(
        _ outputs: ArraySlice<PostgreSQLSession.Output>, of fetch: Fetch
    ) throws(LedgerStorageError) {
        try fetch.take(Array(outputs), &known, &keys)
        for shape in fetch.shapes { shapes[shape.sql] = shape }
    }

    /// A number for a new row, if one was reserved.
    func key(_ numbering: String) -> Int64? { keys[numbering]?.popFirst() }

    // MARK: Writing

    /// Adds the changes of a write that is done.
    func add(_ changes: [PostgreSQLChange]) {
        pending += changes
        for change in changes {
            guard let table = session.texts[change.sql].changedTable, Self.dictionaries.contains(table) else { continue }
            // The next write must find the row.
            known = known.filter { !session.texts[$0.key.sql].names([table]) }
        }
    }

    /// Sends what is pending, and commits.
    ///
    /// - Throws: `outcomeUnknown` if the connection is lost before PostgreSQL answers.
    func commit() throws(LedgerStorageError) {
        let outputs: [PostgreSQLSession.Output]
        do throws(LedgerStorageError) {
            outputs = try run([PostgreSQLStatement("COMMIT", [LedgerValue]())])
        } catch {
            guard session.isLost else { throw error }
            throw LedgerStorageError(.outcomeUnknown, error.detail)
        }
        guard outputs.last?.command == "COMMIT" else {
            throw LedgerStorageError(
                .other, "PostgreSQL ended the transaction with \(outputs.last?.command ?? "nothing")")
        }
    }

    /// Ends the transaction without its writes.
    func rollBack() {
        pending = []
        guard !session.isLost, session.isInTransaction else { return }
        do throws(LedgerStorageError) {
            _ = try session.run([PostgreSQLStatement("ROLLBACK", [LedgerValue]())])
        } catch {
            // The connection is lost, which ends the transaction, too. The next user of the session finds out.
        }
    }

    // MARK: Fetch

    /// The reads of one round trip. Reads of one shape are one statement, whose parameters are lists.
    private struct Fetch {
        private struct Group {
            let shape: ReadShape
            var values: [[LedgerValue]]
            /// The number of statements that it becomes: one for all, or one for each.
            var isList = true
        }

        private(set) var statements: [PostgreSQLStatement] = []
        private var groups: [Group] = []
        private let numberings: [String]

        var shapes: [ReadShape] { groups.map(\.shape) }

        init(
            _ texts: PostgreSQLTexts, _ reads: [ExpectedRead], _ missing: [LedgerStatement], _ insertions: [String: Int]
        ) {
            // Numbers come after the locks and before everything else, so that their order is one in which the writes could have
            // been made one by one.
            numberings = insertions.keys.sorted()
            for numbering in numberings {
                statements.append(
                    PostgreSQLStatement(
                        "SELECT nextval('\(numbering.replacing(".", with: "_"))_seq') FROM generate_series(1, ?1)",
                        [.integer(Int64(insertions[numbering] ?? 0))]))
            }
            var places: [ObjectIdentifier: Int] = [:]
            var seenByGroup: [Set<[LedgerValue]>] = []
            func add(_ shape: ReadShape, _ values: [LedgerValue]) {
                let place = places[ObjectIdentifier(shape)] ?? groups.count
                if place == groups.count {
                    places[ObjectIdentifier(shape)] = place
                    groups.append(Group(shape: shape, values: []))
                    seenByGroup.append([])
                }
                if seenByGroup[place].insert(values).inserted { groups[place].values.append(values) }
            }
            // A text with a zero byte is refused by PostgreSQL, and found nowhere. It comes from outside, before anything was checked.
            for read in reads where !read.values.contains(where: \.hasZeroByte) { add(read.shape, read.values) }
            for statement in missing { add(texts[statement.sql].listShape, statement.parameters) }
            for place in groups.indices {
                let (shape, values) = (groups[place].shape, groups[place].values)
                groups[place].isList = values.count > 1 && shape.valueCount > 0 && !values.contains { $0.contains(.null) }
                if groups[place].isList {
                    statements.append(
                        PostgreSQLStatement(
                            shape.listSQL, (0..<shape.valueCount).map { column in .list(values.map { $0[column] }) }))
                } else {
                    for values in values { statements.append(PostgreSQLStatement(shape.flatSQL, values)) }
                }
            }
        }

        /// Keeps what was read.
        func take(
            _ outputs: [PostgreSQLSession.Output], _ known: inout [LedgerStatement: [LedgerRow]],
            _ keys: inout [String: ArraySlice<Int64>]
        ) throws(LedgerStorageError) {
            var rest = outputs[...]
            for numbering in numberings {
                for row in rest.popFirst()?.rows ?? [] {
                    var reader = row.reader
                    keys[numbering, default: []].append(try reader.integer())
                }
            }
            for group in groups {
                var rows = [[LedgerRow]](repeating: [], count: group.values.count)
                if group.isList {
                    for row in rest.popFirst()?.rows ?? [] {
                        guard case .integer(let place) = row.values.first, rows.indices.contains(Int(place) - 1) else {
                            throw LedgerStorageError(.other, "a list of reads was answered with another place")
                        }
                        rows[Int(place) - 1].append(LedgerRow(values: Array(row.values.dropFirst())))
                    }
                } else {
                    for place in rows.indices { rows[place] = rest.popFirst()?.rows ?? [] }
                }
                for (values, rows) in zip(group.values, rows) {
                    guard let statement = group.shape.statement(values[...], rows: { known[$0] }) else { continue }
                    known[statement] = rows
                }
            }
        }
    }
}

extension LedgerValue {
    fileprivate var hasZeroByte: Bool {
        guard case .text(let text) = self else { return false }
        return text.utf8.contains(0)
    }
}

/// A change that a write made, and that is sent later.
struct PostgreSQLChange {
    let sql: String
    let parameters: [LedgerValue]
    /// Whether it keeps its place among the others of the transaction.
    var isOrdered = false
    /// How many rows it must change.
    var rows: Int?

    /// The statements that carry out changes. Insertions into one table are one statement, unless the table is changed in another way
    /// as well.
    static func statements(_ changes: [PostgreSQLChange], _ texts: PostgreSQLTexts) -> [PostgreSQLStatement] {
        var statements: [PostgreSQLStatement] = []
        var rest = changes[...]
        while !rest.isEmpty {
            let free = rest.prefix { !$0.isOrdered }
            statements += joined(free, texts)
            rest = rest.dropFirst(free.count)
            if let ordered = rest.popFirst() { statements.append(ordered.statement) }
        }
        return statements
    }

    var statement: PostgreSQLStatement {
        guard let rows else { return PostgreSQLStatement(sql, parameters) }
        return PostgreSQLStatement(
            PostgreSQLInsertion.counted(sql, rows: "?\(parameters.count + 1)"), parameters + [.integer(Int64(rows))])
    }

    private static func joined(
        _ changes: ArraySlice<PostgreSQLChange>, _ texts: PostgreSQLTexts
    ) -> [PostgreSQLStatement] {
        var textsOfTables: [String: Set<String>] = [:]
        for change in changes {
            textsOfTables[texts[change.sql].changedTable ?? "", default: []].insert(change.sql)
        }
        var places: [String: Int] = [:]
        var groups: [[PostgreSQLChange]] = []
        for change in changes {
            let text = texts[change.sql]
            if text.insertion != nil, let table = text.changedTable, textsOfTables[table]?.count == 1 {
                if let place = places[change.sql] {
                    groups[place].append(change)
                    continue
                }
                places[change.sql] = groups.count
            }
            groups.append([change])
        }
        var statements: [PostgreSQLStatement] = []
        for group in groups {
            guard group.count > 1, let insertion = texts[group[0].sql].insertion else {
                statements += group.map(\.statement)
                continue
            }
            for rows in distinct(group, insertion.conflict) {
                statements.append(
                    insertion.statement(rows.map(\.parameters), isCounted: rows.contains { $0.rows != nil }))
            }
        }
        return statements
    }

    /// Rows with the same key in the columns of a conflict go into different statements: one may not change a row twice.
    private static func distinct(_ changes: [PostgreSQLChange], _ columns: [Int]) -> [[PostgreSQLChange]] {
        guard !columns.isEmpty else { return [changes] }
        var rounds: [[PostgreSQLChange]] = []
        var counts: [[LedgerValue]: Int] = [:]
        for change in changes {
            let round = counts[columns.map { change.parameters[$0] }, default: 0]
            counts[columns.map { change.parameters[$0] }] = round + 1
            if round == rounds.count { rounds.append([]) }
            rounds[round].append(change)
        }
        return rounds
    }
}
