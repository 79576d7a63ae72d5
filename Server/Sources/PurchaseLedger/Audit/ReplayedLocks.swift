import PurchaseVerification

/// The locks that the transaction of an entry held, as far as the entry shows them. Two entries with one in common were
/// written one after the other.
enum ReplayedLocks {
    /// - Parameters:
    ///   - details: the details; empty if they were erased.
    ///   - evidence: the entry's evidence, if it was verified.
    static func locks(
        of leaf: JournalLeaf, _ details: [UInt8], _ evidence: ExaminedEvidence?
    ) throws(LedgerStorageError) -> Set<LedgerLock> {
        var locks: Set<LedgerLock> = []
        // The transaction holds the lock of the customer's name. Entries of one customer share it, whatever the name
        // is.
        if let customer = leaf.customer { locks.insert(.customer(reference: customer)) }
        if let order = leaf.order { locks.insert(.order(order)) }
        if let sha256 = leaf.evidence { locks.insert(.evidence(sha256)) }
        if let evidence { locks.formUnion(evidence.locks.subtracting([.unverified])) }
        guard !details.isEmpty else { return locks }
        switch leaf.kind {
        case .tokenAssigned:
            if let token = try AppAccountToken(TokenAssignedDetails(encoded: details).token) {
                locks.insert(.token(token.uuid))
            }
        case .claim: locks.formUnion(self.locks(of: try ClaimDetails(encoded: details)))
        case .decision: locks.formUnion(self.locks(of: try DecisionDetails(encoded: details).decided))
        case .seatClaimed:
            let claim = try SeatClaimedDetails(encoded: details)
            locks.formUnion([.seat(claim.seatID), .original(AppStoreEnvironment(claim.environment), claim.originalID)])
        case .seatUnclaimed:
            let end = try SeatUnclaimedDetails(encoded: details)
            locks.formUnion([.seat(end.seatID), .original(AppStoreEnvironment(end.environment), end.originalID)])
        case .extensionRequested:
            let request = try ExtensionRequestedDetails(encoded: details)
            locks.insert(.original(AppStoreEnvironment(request.environment), request.originalID))
        default: break
        }
        return locks
    }

    /// One lock for each transaction with an outcome: a claim holds the lock of its original, which an audit without
    /// evidence does not know.
    private static func locks(of claim: ClaimDetails) -> [LedgerLock] {
        claim.outcomes.map {
            .original(AppStoreEnvironment($0.environment), "of transaction \($0.transactionID) \($0.second ?? 0)")
        }
    }
}
