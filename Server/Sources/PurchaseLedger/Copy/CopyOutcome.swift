/// The result of a copy.
public struct CopyOutcome: Sendable, Equatable {
    /// The rows of all tables.
    public var rows: Int64
    /// The leaves of the Merkle log.
    public var leaves: Int64
    /// Its root, in hexadecimal.
    public var root: String
    /// The id of the key of entries, which the target's servers need.
    public var entryKeyID: String
}
