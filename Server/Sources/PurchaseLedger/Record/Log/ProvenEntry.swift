import PurchaseVerification

/// A journal entry whose position in a signed log was verified. Only the verification of a proof creates one.
public struct ProvenEntry: Sendable, Equatable {
    public let entry: JournalLeaf
    /// Its position in the log, from 0.
    public let leafNumber: Int64
    /// The checkpoint that covers it.
    public let checkpoint: Checkpoint
    /// The details as JSON; `nil` if they were erased or left out.
    public let details: [UInt8]?
    /// The evidence as it was sent. The log proves that it was recorded; its own signature proves Apple's statement.
    public let evidence: [UInt8]?

    init(
        entry: JournalLeaf, leafNumber: Int64, checkpoint: Checkpoint, details: [UInt8]?, evidence: [UInt8]?
    ) {
        self.entry = entry
        self.leafNumber = leafNumber
        self.checkpoint = checkpoint
        self.details = details
        self.evidence = evidence
    }
}
