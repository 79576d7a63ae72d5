import PurchaseVerification

/// Records counted refusals, one entry for each API key.
struct RecordCountedRefusals: LedgerOperation {
    let batches: [RefusalCounts.Batch]

    var locks: LedgerLocks { .parts([]) }

    func perform(_ transaction: LedgerTransaction) throws {
        for batch in batches {
            // It was written, but the answer of the database was lost.
            guard try JournalTable(connection: transaction.connection).row(id: batch.id) == nil else { continue }
            let refusals = batch.refusals
            var draft = JournalDraft(id: batch.id, at: transaction.now, app: try transaction.appToWrite(refusals.app))
            draft.code = refusals.code
            try transaction.journal.append(
                draft,
                RefusalsDetails(
                    keyID: refusals.keyID, count: refusals.count, codes: refusals.codes, kept: [],
                    hashes: [refusals.lastSHA256?.hexadecimal].compactMap(\.self),
                    since: refusals.since.millisecondsSince1970))
        }
    }
}

extension PurchaseLedger {
    /// Records the refusals beyond the daily budget that were counted since the last call, one entry for each API key.
    /// A server calls it once a minute and when it stops.
    ///
    /// - Throws: `LedgerStorageError`; the next call records them.
    public func recordCountedRefusals() async throws {
        let batches = refusalCounts.take(at: clock())
        guard !batches.isEmpty else { return }
        do {
            try await perform(RecordCountedRefusals(batches: batches))
        } catch {
            refusalCounts.postpone(batches)
            throw error
        }
    }
}

extension LedgerTransaction {
    /// Counts refusals beyond the daily budget.
    ///
    /// - Parameters:
    ///   - codes: the number of refusals with each code.
    ///   - sha256: the hash of the last evidence.
    func count(
        _ codes: [String: Int64], lastSHA256 sha256: [UInt8]?, app: String, keyID: String?
    ) {
        refusalNotes?.note(
            CountedRefusals(
                app: app, keyID: keyID.map(ClaimDetails.bounded), codes: codes, lastSHA256: sha256, since: now))
    }
}
