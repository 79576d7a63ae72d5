/// The numbers of advisory locks, which all connections to a database share. Parts have negative numbers, positions of
/// events and entries positive ones.
enum PostgreSQLLockNumbers {
    /// The lock that all writes share, and that a write of the whole ledger takes alone.
    static let everything = Int64.min

    static func part(_ lock: LedgerLock) -> Int64 { everything | (lock.number & .max) }
}

/// The numbers of events or entries up to which no row can be committed later.
///
/// Numbers are assigned before the commit, so a row can be committed after one with a higher number. Before a writer
/// draws numbers, it locks the last one that was drawn, until it ends; it draws its own after its last lock. So: read
/// the last drawn number, then the lowest locked one; a statement that begins after both sees every row up to the lower
/// of the two that is ever committed. The sequences begin at 2, since a fresh one says 1 before its first number
/// (`PostgreSQLDialect.renumbering`).
enum PostgreSQLMark {
    case events
    case entries

    private var sequence: String {
        switch self {
        case .events: "events_event_key_seq"
        case .entries: "journal_entry_key_seq"
        }
    }

    /// The highest 16 bits of the lock that identifies a writer.
    private var number: Int64 {
        switch self {
        case .events: 0x4153
        case .entries: 0x4156
        }
    }

    /// Locks the last drawn numbers until the end of the transaction.
    static let taking = PostgreSQLStatement(
        """
        SELECT pg_advisory_xact_lock_shared(?1 | events.last_value),
        pg_advisory_xact_lock_shared(?2 | entries.last_value)
        FROM \(events.sequence) AS events, \(entries.sequence) AS entries
        """, [.integer(events.number << 48), .integer(entries.number << 48)])

    /// The last drawn number, and the lowest one that a writer locks, in this order.
    var queries: [PostgreSQLStatement] {
        [
            PostgreSQLStatement("SELECT last_value FROM \(sequence)", [LedgerValue]()),
            PostgreSQLStatement(
                """
                SELECT min(((classid::bigint & 65535) << 32) | objid::bigint) FROM pg_locks
                WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND classid::bigint >> 16 = ?1
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                """, [.integer(number)]),
        ]
    }

    /// The lower one of the results of both queries.
    static func settled(_ outputs: some Collection<PostgreSQLSession.Output>) throws(LedgerStorageError) -> Int64? {
        var settled: Int64?
        for output in outputs {
            guard var reader = output.rows.first?.reader, let number = try reader.optionalInteger() else { continue }
            settled = min(settled ?? .max, number)
        }
        return settled
    }
}
