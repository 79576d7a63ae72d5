/// A table whose rows never change.
public struct AppendOnlyRule: Sendable {
    public var table: String
    /// The columns that never change.
    public var columns: [String]
    /// The unique columns: a row with an existing value in one of them is refused.
    public var keys: [String]
    /// The columns that can be set to null, which is how a customer's data is erased.
    public var erasable: [String]
    /// The columns that can be set to null and filled again: evidence that was erased can be sent again.
    public var refillable: [String] = []
    /// Whether a row with an existing key is silently skipped instead of refused. Rows of such a table are inserted
    /// without a lookup.
    public var ignoresDuplicates = false
}
