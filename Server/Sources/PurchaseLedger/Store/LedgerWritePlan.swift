/// The rows that a write needs, as far as they are known before it begins.
public struct LedgerWritePlan: Sendable {
    /// The parts of the ledger that it reads and changes.
    public var locks: LedgerLocks
    /// The rows that it will probably read. They affect only the speed: an engine on another machine reads them for all
    /// writes of a transaction in one round trip, and needs another one for any other row.
    public var reads: [ExpectedRead]
    /// The number of rows that it will probably insert into tables that number their rows, by `table.column`.
    public var insertions: [String: Int]
    /// What it needs besides, found in the rows that were loaded. It is asked again with the further rows until it
    /// names no more, then its parts are locked, all before the write is decided.
    var needs: @Sendable (LoadedRows) throws(LedgerStorageError) -> LedgerNeeds = { _ in LedgerNeeds() }

    /// A plan.
    public init(locks: LedgerLocks, reads: [ExpectedRead] = [], insertions: [String: Int] = [:]) {
        self.locks = locks
        self.reads = reads
        self.insertions = insertions
    }

    /// The rows of an expected read; `nil` if it was not loaded.
    typealias LoadedRows = (ExpectedRead) -> [LedgerRow]?
}
