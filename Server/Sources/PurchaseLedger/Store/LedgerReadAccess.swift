/// The kinds of reads.
public enum LedgerReadAccess: Sendable {
    /// A few rows found by a key: API keys, orders, entitlements.
    case keys
    /// The same with a single statement. It sees one committed state by itself, so an engine can leave out the
    /// transaction around it. It has the connections of `keys`.
    case statement
    /// Pages of a list, or a whole table. They have connections of their own.
    case lists
}
