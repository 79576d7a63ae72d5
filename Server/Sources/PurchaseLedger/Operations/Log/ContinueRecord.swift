public import PurchaseVerification

/// Records that the log continues under a new origin, after a restore from a backup lost leaves that the old origin had
/// signed.
struct ContinueRecord: LedgerOperation {
    let details: RecordContinuedDetails

    func perform(_ transaction: LedgerTransaction) throws {
        _ = try transaction.append(transaction.draft(nil), details)
    }
}

extension RecordContinuedDetails: LedgerInput {
    func run(_ write: EntryWrite) {}
}

extension LogSealing {
    /// Ends the origin of a log that was restored from a backup, or whose heads were lost: its last signed checkpoint
    /// is written to the journal, signed with its key, and sealed as the first leaf that the next origin signs.
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
        guard try await isInterrupted(signer) else {
            throw LogError(
                .notInterrupted,
                "the log extends the checkpoint of \(ended.size) leaves that \(ended.origin) signed last")
        }
        let found = try await ledger.answer(LogEdge(size: nil)).size
        try await ledger.perform(
            ContinueRecord(details: try signer.continuation(of: ended, found: found, by: origin, reason: reason)))
        _ = try await seal()
        return (ended, found)
    }

    /// Whether the log does not extend what was signed last, or nobody knows what that is.
    private func isInterrupted(_ signer: CheckpointSigner) async throws -> Bool {
        guard signer.knowsHeads else { return true }
        do {
            _ = try await sign()
            return false
        } catch let error as LogError where error.code == .shorter || error.code == .rewritten {
            return true
        }
    }
}

/// How far the record is sealed, for an operator who examines an installation.
public struct RecordState: Sendable, Equatable {
    /// The leaves of the Merkle log.
    public let size: Int64
    /// The entries that are not in it yet.
    public let pending: PendingEntries
    /// The time of the newest entry of the journal; `nil` if it has none.
    public let newestEntry: Timestamp?

    /// Reads the state of a database that has this version's schema.
    public init(of database: any LedgerDatabase) async throws {
        self = try await database.read(.lists) { try RecordState($0) }
    }

    private init(_ connection: any LedgerConnection) throws(LedgerStorageError) {
        size = try LogStateTable(connection: connection).row().size
        pending = try LogStateTable(connection: connection).pending()
        let rows = try connection.rows("SELECT at FROM journal ORDER BY entry_key DESC LIMIT 1", [])
        var newest: Timestamp?
        if var reader = rows.first?.reader { newest = try reader.time() }
        newestEntry = newest
    }
}
