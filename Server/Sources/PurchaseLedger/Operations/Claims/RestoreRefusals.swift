import PurchaseVerification

/// The pieces of a restore that failed verification. Several of them make one entry, because each piece can be a few bytes.
struct RestoreRefusals {
    private let submission: RestoreSubmission
    /// The pieces, each with its place in the request.
    private let pieces: [(index: Int, evidence: ExaminedEvidence, rejection: Rejection)]

    /// - Returns: `nil` for less than two refused pieces; a single one is an entry like any other.
    init?(of examined: ExaminedRestore) {
        submission = examined.submission
        pieces = examined.evidence.enumerated().compactMap { index, evidence in
            guard case .failure(let error) = evidence.verified else { return nil }
            return (index, evidence, Rejection(error))
        }
        guard pieces.count > 1 else { return nil }
    }

    /// The places of the pieces in the request.
    var places: Set<Int> { Set(pieces.map(\.index)) }

    /// Writes the entry. Within the daily budget, it has the hash of each piece, whose bytes are stored; beyond it, the number and
    /// the last hash.
    func write(
        _ app: RegistryApp, _ customer: CustomerRow, _ transaction: LedgerTransaction, _ outcome: inout RestoreOutcome
    ) throws(LedgerStorageError) {
        let use = UnverifiedEvidenceUse(transaction, app: app, keyID: submission.keyID)
        var left = try use.allowance()
        let cost = EvidenceBudget.entryBytes + Int64(pieces.count) * EvidenceBudget.hashBytes
        let isWithinBudget = cost <= left
        left -= isWithinBudget ? cost : EvidenceBudget.entryBytes
        var spent = isWithinBudget ? cost : EvidenceBudget.entryBytes
        let store = EvidenceStore(connection: transaction.connection)
        var (kept, hashes): ([String], [String]) = ([], [])
        for piece in pieces.suffix(isWithinBudget ? pieces.count : 1) {
            let stored = piece.evidence.stored
            guard isWithinBudget, stored.size <= left else {
                hashes.append(stored.sha256.hexadecimal)
                continue
            }
            let bytes = try store.keep(stored).bytes
            (left, spent) = (left - bytes, spent + bytes)
            kept.append(stored.sha256.hexadecimal)
        }
        try use.add(spent)
        var codes: [String: Int64] = [:]
        for piece in pieces { codes[piece.rejection.code, default: 0] += 1 }
        var draft = transaction.draft(app)
        (draft.customer, draft.code) = (customer, pieces.first?.rejection.code ?? "")
        let entry = try transaction.journal.append(
            draft,
            RefusalsDetails(
                keyID: submission.keyID, sourceAddress: submission.sourceAddress, customer: submission.customerID,
                count: Int64(pieces.count), codes: codes, kept: kept, hashes: hashes))
        outcome.entries.append(entry.id)
        outcome.refused += pieces.map { piece in
            RefusedEvidence(
                submissionID: entry.id, leafHash: entry.leafHash, index: piece.index, rejection: piece.rejection,
                disposition: piece.rejection.disposition(hasPurchase: false))
        }
    }
}
