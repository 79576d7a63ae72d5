/// The numbers of advisory locks, which all connections to a database share.
struct PostgreSQLLockNumbers: Sendable {
    /// The lock that all writes share, and that a write of the whole ledger takes alone.
    let everything: Int64
    /// The highest 16 bits of the lock that identifies a writer of events.
    let eventMark: Int64
    /// The highest 16 bits of the lock that identifies a writer of entries.
    let entryMark: Int64
    /// The bits of a part's number that are kept.
    private let partMask: Int64

    /// The locks of the ledger. Parts have negative numbers, positions of events and entries positive ones.
    static let ledger = PostgreSQLLockNumbers(
        everything: .min, eventMark: 0x4153 << 48, entryMark: 0x4156 << 48, partMask: .max)

    /// The locks of a trial (`PostgreSQLTrialDatabase`), for which no write of the ledger waits.
    static let trial = PostgreSQLLockNumbers(
        everything: 0x4154 << 48, eventMark: 0x4155 << 48, entryMark: 0x4157 << 48, partMask: (1 << 48) - 1)

    func part(_ lock: LedgerLock) -> Int64 { everything | (lock.number & partMask) }
}
