import PurchaseVerification

/// Compares the numbers of entries with their order in the log.
///
/// The ledger orders claims of one purchase, and merges, by the numbers of their entries, and the log orders them by
/// leaf. SQLite has one writer, so both orders are the same. PostgreSQL numbers an entry after its transaction has
/// taken its locks (`PostgreSQLTransaction.begin`, `lock`), and the sealer numbers the leaves of one snapshot in the
/// order of the entries (`SealEntries`). So of two entries with a lock in common, the one that was written first has
/// the lower number and the lower leaf. Entries without a common lock can be in any order, which changes nothing:
/// neither has read what the other has written.
struct EntryOrder: Sendable {
    /// Whether all numbers grow with the leaves; otherwise only those of entries with a lock in common.
    let isStrict: Bool
    /// The greatest number so far.
    private var last: Int64 = 0
    /// The greatest number of an entry that locks the whole ledger.
    private var exclusive: Int64 = 0

    init(isStrict: Bool) { self.isStrict = isStrict }

    /// Creates the table with the greatest number for each lock.
    static func createTable(_ connection: any LedgerConnection) throws(LedgerStorageError) {
        try connection.execute("CREATE TABLE entry_locks (lock INTEGER PRIMARY KEY, entry_key INTEGER NOT NULL)", [])
    }

    /// The finding if an entry has a lower number than an earlier one that it comes after in every order.
    ///
    /// - Parameter locks: locks that its transaction held.
    mutating func finding(
        _ row: JournalRow, _ kind: JournalKind, locks: Set<LedgerLock>, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> AuditFinding? {
        var earlier = isStrict || Self.exclusiveKinds.contains(kind) ? last : exclusive
        if !isStrict {
            for lock in locks {
                let known = try connection.rows(
                    "SELECT entry_key FROM entry_locks WHERE lock = ?1", [.integer(lock.number)])
                if case .integer(let key)? = known.first?.values.first { earlier = max(earlier, key) }
                try connection.send(
                    to: "entry_locks",
                    """
                    INSERT INTO entry_locks (lock, entry_key) VALUES (?1, ?2)
                    ON CONFLICT (lock) DO UPDATE SET entry_key = max(entry_key, excluded.entry_key)
                    """, [.integer(lock.number), .integer(row.key)])
            }
            if Self.exclusiveKinds.contains(kind) { exclusive = max(exclusive, row.key) }
        }
        last = max(last, row.key)
        guard row.key < earlier else { return nil }
        return AuditFinding(
            kind: .orderDiffers,
            detail: "entry \(row.key) (\(kind.name)) comes after entry \(earlier), which has the greater number")
    }

    /// The kinds whose operations lock the whole ledger (`LedgerOperation.locks`).
    private static let exclusiveKinds: Set<JournalKind> = [
        .purchaseMoved, .customerMerged, .customerErased, .settings, .bundleBound, .keyCreated, .keyRevoked, .rules,
        .recordContinued,
    ]
}
