import PurchaseVerification

extension PurchaseLedger {
    /// Records the evidence of a restore whose request is wrong: genuine pieces contain facts from Apple all the same.
    /// Several pieces that fail verification make one entry, as in a restore.
    ///
    /// - Parameters:
    ///   - examined: the evidence. The customer's name is not used.
    ///   - flaw: what is wrong with the request.
    /// - Returns: the number of pieces beyond the daily budget, which are only counted.
    public func observe(_ examined: ExaminedRestore, flaw: Rejection) async throws -> Int {
        var counted = 0
        var together: Set<Int> = []
        if let refusals = RestoreRefusals(of: examined), !refusals.isSingle {
            together = refusals.places
            counted += try await perform(RecordRefusedPieces(examined: examined))
        }
        for (index, evidence) in examined.evidence.enumerated() where !together.contains(index) {
            var submission = EvidenceSubmission(app: examined.submission.app, source: "restore", evidence: [])
            (submission.keyID, submission.flaw) = (examined.submission.keyID, flaw)
            let piece = self.examined(submission, evidence)
            if try await perform(ObserveEvidence(piece)).isCounted { counted += 1 }
        }
        return counted
    }
}

/// Writes one entry about the pieces of a wrong request that failed verification, or counts them.
private struct RecordRefusedPieces: LedgerOperation {
    let examined: ExaminedRestore

    func perform(_ transaction: LedgerTransaction) throws -> Int {
        guard let refusals = RestoreRefusals(of: examined) else { return 0 }
        let app = try transaction.app(examined.submission.app)
        var outcome = RestoreOutcome(purchases: [], refused: [], entitlements: [])
        if try !refusals.count(app, transaction, &outcome) { try refusals.write(app, nil, transaction, &outcome) }
        return outcome.counted
    }
}
