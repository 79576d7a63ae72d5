import PurchaseVerification

/// Writes down that the log continues under a new origin, after a restore from a backup lost what the old one had signed.
public struct ContinueRecord: LedgerOperation {
    /// The checkpoint that the old origin signed last.
    public let ended: Checkpoint
    /// The size of the log as it was found.
    public let found: Int64
    /// The origin that follows.
    public let origin: String
    /// Why, for people.
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
    /// Ends the origin of a log that was restored from a backup: what it signed last is written to the journal, and sealed as
    /// the first leaf that the next origin signs.
    ///
    /// - Parameters:
    ///   - signer: signs for the origin that ends. No other process signs with its key.
    ///   - origin: the origin that follows.
    ///   - reason: why, for people.
    /// - Returns: what was signed last, and the size of the log as it was found.
    /// - Throws: `notInterrupted` if the log extends what was signed last; `LedgerStorageError`.
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
