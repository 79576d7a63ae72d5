/// A leaf of the Merkle log with its journal entry.
struct LogEntryRow: Sendable {
    let leafNumber: Int64
    let entryKey: Int64
    /// `nil` if the journal has no such entry, or its value is not bytes.
    let leaf: [UInt8]?
    /// The unique id of the entry's row, which must equal the one in its leaf.
    let entryID: [UInt8]?
    let mac: [UInt8]?
}
