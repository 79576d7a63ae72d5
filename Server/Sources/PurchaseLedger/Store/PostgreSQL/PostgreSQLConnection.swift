/// A PostgreSQL connection inside a transaction. It is used by the thread of its session alone.
final class PostgreSQLConnection: LedgerConnection {
    /// More statements than this wait for no other one.
    private static let maximumPending = 256
    /// Parts of the ledger have negative numbers, and the places of events positive ones.
    private static let partBit = Int64.min
    /// The highest 16 bits of the number under which a writer of events is known.
    private static let eventMark: Int64 = 0x4153 << 48

    private let session: PostgreSQLSession
    /// The statements whose results nobody waits for.
    private var pending: [LedgerStatement] = []
    /// The parts that are locked; `nil` for the whole ledger.
    private var locked: Set<Int64>? = []
    /// The parts that a write needs and has not locked.
    private(set) var needed: Set<LedgerLock> = []
    /// How many of them belong to earlier writes of the transaction.
    private var kept = 0
    /// Whether each write has a savepoint, and whether the present one has set it.
    private let hasSavepoints: Bool
    private var isSaved = false
    /// The first error of the server, after which the transaction cannot go on.
    private(set) var failure: LedgerStorageError?
    private var isBegun = false
    private let access: Access

    /// What the transaction does.
    enum Access {
        case reads
        case writes
    }

    /// A connection for one transaction.
    ///
    /// - Parameter hasSavepoints: whether several writes share the transaction.
    init(_ session: PostgreSQLSession, _ access: Access, hasSavepoints: Bool = false) {
        self.session = session
        self.access = access
        self.hasSavepoints = hasSavepoints
    }

    // MARK: Statements

    @discardableResult
    func execute(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> Int {
        try output(of: [LedgerStatement(sql, parameters)]).last?.changes ?? 0
    }

    func rows(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> [LedgerRow] {
        try output(of: [LedgerStatement(sql, parameters)]).last?.rows ?? []
    }

    func rows(of statements: [LedgerStatement]) throws(LedgerStorageError) -> [[LedgerRow]] {
        try output(of: statements).map(\.rows)
    }

    func send(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) {
        pending.append(LedgerStatement(sql, parameters))
        if pending.count >= Self.maximumPending { _ = try output(of: []) }
    }

    /// Sends what waits and these statements.
    ///
    /// - Returns: what these returned.
    private func output(of statements: [LedgerStatement]) throws(LedgerStorageError) -> [PostgreSQLSession.Output] {
        var all: [LedgerStatement] = []
        if access == .reads, !isBegun {
            isBegun = true
            all.append(LedgerStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", []))
        }
        let isWriting = !pending.isEmpty || statements.contains { !$0.sql.hasPrefix("SELECT") }
        all += pending.prefix(kept)
        if hasSavepoints, !isSaved, isWriting {
            isSaved = true
            all.append(LedgerStatement("SAVEPOINT job", []))
        }
        all += pending.dropFirst(kept) + statements
        (pending, kept) = ([], 0)
        do throws(LedgerStorageError) {
            return try session.run(all).suffix(statements.count)
        } catch {
            failure = failure ?? error
            throw error
        }
    }

    // MARK: Locks

    var locksParts: Bool { access == .writes && locked != nil }

    func lock(_ parts: [LedgerLock]) throws(LedgerStorageError) {
        guard let locked else { return }
        let missing = parts.filter { !locked.contains($0.number | Self.partBit) }
        guard !missing.isEmpty else { return }
        needed.formUnion(missing)
        throw LedgerStorageError(.conflict, "the write needs more locks")
    }

    // MARK: A transaction that writes

    /// Begins a transaction and locks parts of the ledger, in one round trip.
    ///
    /// Each lock is a statement of its own before every read: under READ COMMITTED, a read sees what was committed before it
    /// begins. The parts are in one order everywhere, so that two transactions that wait for each other are rare.
    func begin(
        _ locks: LedgerLocks, schema: Int64?, limits: [LedgerStatement]
    ) throws(LedgerStorageError) {
        var statements = [LedgerStatement("BEGIN ISOLATION LEVEL READ COMMITTED", [])] + limits
        switch locks {
        case .everything:
            locked = nil
            statements.append(LedgerStatement("SELECT pg_advisory_xact_lock(?1)", [.integer(Self.partBit)]))
        case .parts(let parts):
            let numbers = Set(parts.map { $0.number | Self.partBit }).subtracting([Self.partBit])
            locked = numbers.union([Self.partBit])
            statements.append(LedgerStatement("SELECT pg_advisory_xact_lock_shared(?1)", [.integer(Self.partBit)]))
            if !numbers.isEmpty {
                let list = numbers.sorted().map { "\($0)" }.joined(separator: ",")
                statements.append(
                    LedgerStatement(
                        "SELECT pg_advisory_xact_lock(part) FROM unnest(string_to_array(?1, ',')::bigint[]) AS part",
                        [.text(list)]))
            }
        }
        if schema != nil {
            statements += [
                LedgerStatement(SchemaNumber.query, []),
                LedgerStatement(
                    "SELECT pg_advisory_xact_lock_shared(?1 | last_value) FROM events_event_key_seq",
                    [.integer(Self.eventMark)]),
            ]
        }
        let outputs = try session.run(statements)
        guard let schema else { return }
        try SchemaNumber.require(schema, found: outputs.dropLast().last?.rows ?? [])
    }

    /// Begins one write of several.
    func beginJob() {
        kept = pending.count
        (isSaved, needed) = (false, [])
    }

    /// Ends one write of several: the next one has a savepoint of its own.
    func endJob() {
        if isSaved { pending.append(LedgerStatement("RELEASE SAVEPOINT job", [])) }
        isSaved = false
    }

    /// Undoes what the present write did, also if it failed on the server.
    func undoJob() throws(LedgerStorageError) {
        needed = []
        pending = Array(pending.prefix(kept))
        guard isSaved else { return }
        isSaved = false
        _ = try session.run([
            LedgerStatement("ROLLBACK TO SAVEPOINT job", []), LedgerStatement("RELEASE SAVEPOINT job", []),
        ])
    }

    /// Sends what waits, and commits.
    ///
    /// - Throws: `outcomeUnknown` if the connection is lost before PostgreSQL answers.
    func commit() throws(LedgerStorageError) {
        let statements = pending + [LedgerStatement("COMMIT", [])]
        pending = []
        let outputs: [PostgreSQLSession.Output]
        do throws(LedgerStorageError) {
            outputs = try session.run(statements)
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
            _ = try session.run([LedgerStatement("ROLLBACK", [])])
        } catch {
            // The connection is lost, which ends the transaction, too. The next user of the session finds out.
        }
    }

    // MARK: Events

    /// The key up to which no event can be committed later.
    ///
    /// Keys are assigned before the commit, so an event can be committed after one with a higher key. Before it assigns any, a
    /// writer locks the last key that was assigned, until it ends. So: read the last assigned key, then the lowest locked one;
    /// in a transaction that begins after both, everything up to the lower of the two is there that will ever be.
    func settledEvent() throws(LedgerStorageError) -> Int64? {
        guard access == .reads, !isBegun else {
            throw LedgerStorageError(.other, "events are read at the beginning of a transaction that reads")
        }
        let last = try session.run([LedgerStatement("SELECT last_value FROM events_event_key_seq", [])])
        let lowest = try session.run([
            LedgerStatement(
                """
                SELECT min(((classid::bigint & 65535) << 32) | objid::bigint) FROM pg_locks
                WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND classid::bigint >> 16 = ?1
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                """, [.integer(Self.eventMark >> 48)])
        ])
        var keys: [Int64] = []
        for row in [last, lowest].compactMap({ $0.first?.rows.first }) {
            var reader = row.reader
            if let key = try reader.optionalInteger() { keys.append(key) }
        }
        return keys.min()
    }
}
