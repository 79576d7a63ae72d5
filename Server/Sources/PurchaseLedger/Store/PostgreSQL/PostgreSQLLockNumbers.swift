/// The numbers of advisory locks, which all connections to a database share. Parts have negative numbers, positions of
/// events and entries positive ones.
enum PostgreSQLLockNumbers {
    /// The lock that all writes share, and that a write of the whole ledger takes alone.
    static let everything = Int64.min
    /// The highest 16 bits of the lock that identifies a writer of events.
    static let eventMark: Int64 = 0x4153 << 48
    /// The highest 16 bits of the lock that identifies a writer of entries.
    static let entryMark: Int64 = 0x4156 << 48

    static func part(_ lock: LedgerLock) -> Int64 { everything | (lock.number & .max) }
}
