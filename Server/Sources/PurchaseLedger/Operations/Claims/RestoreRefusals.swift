import PurchaseVerification

import struct Foundation.UUID

/// The pieces of a restore that failed verification. Several of them make one entry, because each piece can be a few
/// bytes. Beyond the daily budget they are only counted.
struct RestoreRefusals {
    private let submission: RestoreSubmission
    /// The pieces, each with its place in the request.
    private let pieces: [(index: Int, evidence: ExaminedEvidence, rejection: Rejection)]

    /// - Returns: `nil` if no piece is refused.
    init?(of examined: ExaminedRestore) {
        submission = examined.submission
        pieces = examined.evidence.enumerated().compactMap { index, evidence in
            guard case .failure(let error) = evidence.verified else { return nil }
            return (index, evidence, Rejection(error))
        }
        guard !pieces.isEmpty else { return nil }
    }

    /// The places of the pieces in the request.
    var places: Set<Int> { Set(pieces.map(\.index)) }

    /// Whether there is only one piece, which is an entry like any other.
    var isSingle: Bool { pieces.count == 1 }

    private var codes: [String: Int64] {
        pieces.reduce(into: [:]) { $0[$1.rejection.code, default: 0] += 1 }
    }

    private var cost: Int64 {
        isSingle
            ? EvidenceBudget.leastBytes : EvidenceBudget.leastBytes + Int64(pieces.count) * EvidenceBudget.hashBytes
    }

    /// Counts the pieces if they are beyond the daily budget, and writes nothing.
    ///
    /// - Returns: whether they are.
    func count(
        _ app: RegistryApp, _ transaction: LedgerTransaction, _ outcome: inout RestoreOutcome
    ) throws(LedgerStorageError) -> Bool {
        let use = RefusalBudgetUse(transaction, app: app, keyID: submission.keyID)
        guard try !use.admits(cost) else { return false }
        transaction.count(
            codes, lastSHA256: pieces.last?.evidence.stored.sha256, app: submission.app, keyID: submission.keyID)
        outcome.counted += pieces.count
        outcome.refused += pieces.map { refused($0, submissionID: nil, leafHash: []) }
        return true
    }

    /// Writes the entry. It has the hash of each piece, whose bytes are stored as far as the daily budget goes.
    func write(
        _ app: RegistryApp, _ customer: CustomerRow?, _ transaction: LedgerTransaction, _ outcome: inout RestoreOutcome
    ) throws(LedgerStorageError) {
        let use = RefusalBudgetUse(transaction, app: app, keyID: submission.keyID)
        var left = try use.allowance() - cost
        var spent = Int64(pieces.count) * EvidenceBudget.hashBytes
        let store = EvidenceStore(connection: transaction.connection)
        var (kept, hashes): ([String], [String]) = ([], [])
        for piece in pieces {
            let stored = piece.evidence.stored
            guard stored.size <= left else {
                hashes.append(stored.sha256.hexadecimal)
                continue
            }
            let bytes = EvidenceBudget.space(of: try store.keep(stored).bytes)
            (left, spent) = (left - bytes, spent + bytes)
            kept.append(stored.sha256.hexadecimal)
        }
        var draft = transaction.draft(app)
        (draft.customer, draft.code) = (customer, pieces.first?.rejection.code ?? "")
        let entry = try transaction.journal.append(
            draft,
            RefusalsDetails(
                keyID: submission.keyID, sourceAddress: submission.sourceAddress,
                customer: customer == nil ? nil : submission.customerID, count: Int64(pieces.count), codes: codes,
                kept: kept, hashes: hashes, guest: transaction.newGuest == nil ? nil : true))
        try use.add(spent)
        try use.add(entry, evidence: nil, customer: customer)
        outcome.entries.append(entry.id)
        outcome.refused += pieces.map { refused($0, submissionID: entry.id, leafHash: entry.leafHash) }
    }

    private func refused(
        _ piece: (index: Int, evidence: ExaminedEvidence, rejection: Rejection), submissionID: UUID?, leafHash: [UInt8]
    ) -> RefusedEvidence {
        RefusedEvidence(
            submissionID: submissionID, leafHash: leafHash, index: piece.index, rejection: piece.rejection,
            disposition: piece.rejection.disposition(hasPurchase: false))
    }
}
