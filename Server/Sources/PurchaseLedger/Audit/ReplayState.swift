import PurchaseVerification

/// What a replay keeps between entries, besides the tables.
struct ReplayState: Sendable {
    /// The settings so far.
    var registry = Registry(apps: [])
    var order = EntryOrder()
}
