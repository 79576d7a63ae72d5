import PurchaseVerification

public import struct Foundation.UUID

/// Evidence of a restore that proves nothing.
public struct RefusedEvidence: Sendable, Equatable {
    /// The journal entry; `nil` if the piece was only counted.
    public var submissionID: UUID?
    /// The hash of the entry's leaf in the Merkle log.
    public var leafHash: [UInt8]
    /// Its place in the request, from 0.
    public var index: Int
    public var rejection: Rejection
    public var disposition: Disposition

    /// The code of the rejection.
    public var code: String { rejection.code }
}

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

/// The use of the daily budget by refusals of an app and of an API key.
struct RefusalBudgetUse {
    private let transaction: LedgerTransaction
    private let table: UnverifiedEvidenceTable
    private let appKey: Int64
    private let day: Int64
    /// Whose bytes are counted, each with its limit: those of the whole app, and those of the key.
    private let shares: [(key: String, limit: Int64)]

    init(_ transaction: LedgerTransaction, app: RegistryApp?, keyID: String?) {
        let budget = app?.settings.unverifiedEvidence ?? EvidenceBudget()
        self.transaction = transaction
        table = UnverifiedEvidenceTable(connection: transaction.connection)
        (appKey, day) = (app?.key ?? 0, UnverifiedEvidenceTable.day(transaction.now))
        let ofKey = keyID.flatMap { $0.isEmpty ? nil : (key: $0, limit: budget.bytesPerKeyAndDay) }
        shares = [(key: "", limit: budget.bytesPerAppAndDay)] + [ofKey].compactMap(\.self)
    }

    /// The bytes that are left today; negative if more were used.
    func allowance() throws(LedgerStorageError) -> Int64 {
        try transaction.connection.lock { () throws(LedgerStorageError) in [.unverified] }
        var allowance = Int64.max
        for share in shares {
            allowance = min(allowance, share.limit - (try table.bytes(app: appKey, key: share.key, day: day)))
        }
        return allowance
    }

    /// Whether a refusal is recorded; otherwise it is only counted. A replay recomputes what was recorded, so it needs
    /// no budget.
    func admits(_ bytes: Int64 = EvidenceBudget.leastBytes) throws(LedgerStorageError) -> Bool {
        guard transaction.refusalNotes != nil else { return true }
        return try allowance() >= bytes
    }

    func add(_ bytes: Int64) throws(LedgerStorageError) {
        for share in shares { try table.add(bytes, app: appKey, key: share.key, day: day) }
    }

    /// Takes the cost of a recorded refusal.
    ///
    /// - Parameters:
    ///   - entry: its entry.
    ///   - evidence: its evidence; the bytes of unverified evidence were taken when it was stored.
    ///   - customer: the customer that it names, who may be new.
    func add(
        _ entry: JournalEntry, evidence: KeptEvidence?, customer: CustomerRow?
    ) throws(LedgerStorageError) {
        let named = customer.map { EvidenceBudget.customerBytes + 2 * Int64($0.name?.utf8.count ?? 0) } ?? 0
        try add(EvidenceBudget.entryBytes + entry.bytes + (evidence?.uncharged ?? 0) + named)
    }
}

extension RefusalsDetails: LedgerInput {
    func redacted(_ scope: ErasureScope) -> RefusalsDetails? {
        // A rebuild needs the hashes of the evidence.
        var kept = self
        (kept.keyID, kept.sourceAddress, kept.customer, kept.guest) = (nil, nil, "", nil)
        return kept
    }

    /// Refused evidence proves nothing, but its customer and its rows exist. A request has written them before.
    func run(_ write: EntryWrite) throws {
        guard write.recorded != nil else { return }
        if let customer, let row = try write.customer(customer), guest == true {
            try write.transaction.customers.setGuest(true, of: row.key)
        }
        for hash in kept {
            let row = EvidenceRow(sha256: [UInt8](hexadecimal: hash), size: 0, content: nil)
            _ = try EvidenceTable(connection: write.connection).keyToWrite(row)
        }
    }
}
