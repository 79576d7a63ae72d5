import PurchaseVerification

import struct Foundation.UUID

extension ExaminedEvidence {
    /// The parts of the ledger that the evidence concerns: its row, the originals, and the account tokens.
    var locks: Set<LedgerLock> {
        var locks: Set<LedgerLock> = [.evidence(stored.sha256)]
        if !stored.isVerified { locks.insert(.unverified) }
        guard case .success(let observation) = verified else { return locks }
        if let notification { locks.insert(.notification(notification.id.string)) }
        if let token = notification?.externalPurchase { locks.insert(.external(token.id)) }
        for seat in notification?.unclaimedSeats ?? [] { locks.insert(.seat(seat.string)) }
        for facts in observation.transactionFacts {
            locks.insert(.original(facts.original.environment, facts.original.transactionID.string))
            if let token = facts.accountToken { locks.insert(.token(token.uuid)) }
        }
        for renewal in observation.renewals {
            locks.insert(.original(renewal.key.environment, renewal.key.originalTransactionID.string))
        }
        return locks
    }
}

extension ClaimPurchase {
    public var locks: LedgerLocks {
        var locks = examined.evidence?.locks ?? []
        let claim = examined.submission.claim
        if let name = claim.customerID { locks.insert(.customer(name)) }
        if let order = claim.orderID.flatMap({ UUID(uuidString: $0) }) { locks.insert(.order(order)) }
        return .parts(locks)
    }
}

extension RestorePurchases {
    public var locks: LedgerLocks {
        let evidence: Set<LedgerLock> = examined.evidence.reduce(into: []) { $0.formUnion($1.locks) }
        return .parts(evidence.union([.customer(examined.submission.customerID)]))
    }
}

extension ImportPurchases {
    public var locks: LedgerLocks {
        var locks: Set<LedgerLock> = []
        for row in rows {
            for evidence in row.evidence { locks.formUnion(evidence.locks) }
            locks.insert(.customer(row.submission.customerID))
            if let order = row.submission.orderID.flatMap({ UUID(uuidString: $0) }) { locks.insert(.order(order)) }
        }
        return .parts(locks)
    }
}

extension ObserveEvidence {
    public var locks: LedgerLocks { .parts(examined.evidence.locks) }
}

extension LedgerTransaction {
    /// Locks the customers of every purchase in several pieces of evidence at once. Otherwise the write would begin
    /// again for each piece whose purchases belong to a customer that the pieces before it do not concern.
    ///
    /// - Parameter app: the app that the evidence was sent for.
    func lockCustomers(of evidence: [ExaminedEvidence], claimedFor app: RegistryApp) throws(LedgerStorageError) {
        guard evidence.count > 1 else { return }
        try lock(customers: { () throws(LedgerStorageError) in try concernedCustomers(of: evidence, claimedFor: app) })
    }

    /// The owners of every purchase in several pieces of evidence, and the customers of all acts on them.
    private func concernedCustomers(
        of evidence: [ExaminedEvidence], claimedFor app: RegistryApp
    ) throws(LedgerStorageError) -> Set<Int64> {
        var customers: Set<Int64> = []
        var known: Set<Int64> = []
        for piece in evidence {
            guard case .success(let observation) = piece.verified,
                let observer = registry.observer(of: piece, claimedFor: app)
            else { continue }
            for facts in observation.transactionFacts where facts.productID != nil {
                if let token = facts.accountToken,
                    let owner = try AccountTokensTable(connection: connection)
                        .assignment(of: token.uuid, appKey: observer.key)
                {
                    customers.insert(owner.customer)
                }
                guard let environment = try environments.key(of: facts.key.environment),
                    let original = try OriginalsTable(connection: connection)
                        .row(facts.original, environment: environment), known.insert(original.key).inserted
                else { continue }
                customers.formUnion(try transactions.rows(originalKey: original.key).compactMap(\.ownerKey))
                for act in try OwnershipActsTable(connection: connection).rows(originalKey: original.key) {
                    customers.formUnion([act.row.customerKey, act.row.formerKey].compactMap(\.self))
                }
            }
        }
        return customers
    }
}
