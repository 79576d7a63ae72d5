import PurchaseVerification

/// What a replay keeps between entries, besides the tables.
struct ReplayState: Sendable {
    /// The settings so far.
    var registry = Registry(apps: [])
    /// The version of the rules in force.
    var rules: Int64 = 0
    var order: EntryOrder
    /// The first leaf whose order needs no look at the numbers.
    var ordered: Int64
    /// What the ledger has not moved yet of the merge in progress.
    var unmoved = UnmovedRows()
}
