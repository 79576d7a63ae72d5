/// A journal entry for an export: its leaf, and the details whose hash is in the leaf.
public struct ExportedEntry: Sendable, Equatable {
    /// The number of the entry: the cursor for the next page.
    public var key: Int64
    /// The place in the Merkle log, which is the order of the record; `nil` while it is pending.
    public var leafNumber: Int64?
    public var leaf: JournalLeaf
    /// The hash of the leaf in the Merkle log.
    public var leafHash: [UInt8]
    /// The details as JSON; `nil` after an erasure.
    public var details: [UInt8]?
}
