import PurchaseVerification

/// A journal entry that is not in the Merkle log yet, with the data needed to seal it.
struct PendingEntry: Sendable {
    let entryKey: Int64
    /// `nil` if the journal has no such entry, or its value is not bytes: one wrong row must not stop the sealer.
    let leaf: [UInt8]?
    /// The unique id of the entry's row, which must equal the one in its leaf.
    let entryID: [UInt8]?
    let mac: [UInt8]?
    let salt: [UInt8]?
    let details: [UInt8]?
    /// Its leaf number, if the log has it already.
    let sealed: Int64?
}
