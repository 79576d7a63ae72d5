import PurchaseVerification

/// Records that the log continues under a new origin, after a restore from a backup lost leaves that the old origin had
/// signed.
public struct ContinueRecord: LedgerOperation {
    /// The last checkpoint that the old origin signed.
    public let ended: Checkpoint
    /// The size of the log after the restore.
    public let found: Int64
    /// The new origin.
    public let origin: String
    /// The reason, as a sentence.
    public let reason: String

    /// A continuation of a log.
    public init(ended: Checkpoint, found: Int64, origin: String, reason: String) {
        self.ended = ended
        self.found = found
        self.origin = origin
        self.reason = reason
    }

    public func perform(_ transaction: LedgerTransaction) throws {
        try transaction.journal.append(
            transaction.draft(nil),
            RecordContinuedDetails(
                origin: ended.origin, size: ended.size, root: ended.root.bytes.hexadecimal, found: found,
                newOrigin: origin, reason: reason))
    }
}

extension LogSealing {
    /// Ends the origin of a log that was restored from a backup: its last signed checkpoint is written to the journal,
    /// and sealed as the first leaf that the next origin signs.
    ///
    /// - Parameters:
    ///   - signer: signs for the origin that ends. No other process signs with its key.
    ///   - origin: the next origin.
    ///   - reason: the reason, as a sentence.
    /// - Returns: the last signed checkpoint, and the size of the log after the restore.
    /// - Throws: `notInterrupted` if the log extends the last signed checkpoint; `LedgerStorageError`.
    public func end(
        _ signer: CheckpointSigner, continuedBy origin: String, reason: String
    ) async throws -> (ended: Checkpoint, found: Int64) {
        let ended = signer.head
        do {
            _ = try await sign()
        } catch let error as LogError where error.code == .shorter || error.code == .rewritten {
            let found = try await ledger.answer(LogEdge(size: nil)).size
            try await ledger.perform(
                ContinueRecord(ended: ended, found: found, origin: origin, reason: reason))
            _ = try await seal()
            return (ended, found)
        }
        throw LogError(
            .notInterrupted, "the log extends the checkpoint of \(ended.size) leaves that \(ended.origin) signed last")
    }
}
