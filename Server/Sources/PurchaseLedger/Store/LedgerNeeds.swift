/// What a write needs besides, as its first rows show.
struct LedgerNeeds: Sendable {
    /// Further parts of the ledger that it reads and changes.
    var parts: Set<LedgerLock> = []
    /// Further rows that it will probably read.
    var reads: [ExpectedRead] = []
    /// Further rows that it will probably insert into tables that number their rows, by `table.column`.
    var insertions: [String: Int] = [:]
}
