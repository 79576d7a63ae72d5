/// The two kinds of reads, which use separate connections.
public enum LedgerReadAccess: Sendable {
    /// A few rows found by a key: API keys, orders, entitlements.
    case keys
    /// Pages of a list, or a whole table.
    case lists
}
