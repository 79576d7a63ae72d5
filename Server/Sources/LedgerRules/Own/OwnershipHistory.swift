import PurchaseVerification

/// What decides the owners of one holder's transactions of an original, erasures included.
///
/// What was bought after the erasure of a customer does not follow the erased purchases: it has the owner that it would
/// have without them (docs/ledger.md, "Erasure").
package struct OwnershipHistory {
    /// The facts, and when each was first observed or erased. Erased transactions have no product.
    private let transactions: [(facts: ObservedTransaction, knownAt: Timestamp)]
    /// Claims and transfers, in the order of the journal. An act that has no entry yet has the last one.
    private let acts: [OwnershipAct]
    /// The merges, in the order of the journal.
    private let merges: [OwnershipAct]
    private let tokens: TokenAssignments

    package init(
        _ transactions: [(facts: ObservedTransaction, knownAt: Timestamp)], acts: [OwnershipAct],
        merges: [OwnershipAct], tokens: TokenAssignments
    ) {
        (self.transactions, self.acts, self.merges, self.tokens) = (transactions, acts, merges, tokens)
    }

    /// - Parameters:
    ///   - known: customers who are known to have a name.
    ///   - isErasedBefore: whether a customer was erased before what is decided now.
    package func ownership<Failure: Error>(
        known: Set<CustomerNumber>, isErased: (CustomerNumber) throws(Failure) -> Bool,
        isErasedBefore: (CustomerNumber) throws(Failure) -> Bool
    ) throws(Failure) -> Ownership {
        var owners = try owners(of: transactions.map(\.facts), isErased)
        // Only an earlier act can give something to somebody who was erased since.
        guard acts.contains(where: { $0.entry != .max }) else { return Ownership(owners: owners) }
        let known = known.union(
            transactions.compactMap { $0.facts.productID == nil ? owners[$0.facts.key]?.customer : nil })
        for (facts, _) in transactions where facts.productID != nil {
            guard let owner = owners[facts.key], let customer = owner.customer, !known.contains(customer),
                try isErasedBefore(customer)
            else { continue }
            // Only what was bought before stays theirs. Otherwise, what a customer did who has no name gives them
            // nothing: the one before them has it.
            var former = TransactionOwner()
            for other in owner.others where try !isErasedBefore(other) {
                former = TransactionOwner(customer: other, ground: owner.ground)
            }
            owners[facts.key] = former
        }
        return Ownership(owners: owners)
    }

    /// The owners of some transactions. Those that were bought after an erasure, and would follow the erased purchases,
    /// are separated from the rest.
    private func owners<Failure: Error>(
        of own: [ObservedTransaction], _ isErased: (CustomerNumber) throws(Failure) -> Bool
    ) throws(Failure) -> [TransactionKey: TransactionOwner] {
        let gone = Set(own.filter { $0.productID == nil }.map(\.key))
        let erasures = gone.isEmpty ? [] : transactions.filter { gone.contains($0.facts.key) }
        for time in Set(erasures.map(\.knownAt)).sorted() {
            let erased = erasures.filter { $0.knownAt == time }.map(\.facts.key)
            let later = own.filter { $0.date > time && !erased.contains($0.key) }.map(\.key)
            guard !later.isEmpty else { continue }
            let former = ownership(of: own, ignoringActsOn: Set(later)).owners
            var customers: Set<CustomerNumber> = []
            for key in erased {
                guard let customer = former[key]?.customer, try isErased(customer) else { continue }
                customers.insert(customer)
            }
            let free = Set(later.filter { former[$0]?.customer.map(customers.contains) ?? false })
            guard !free.isEmpty else { continue }
            let kept = try owners(of: own.filter { !free.contains($0.key) }, isErased)
            let freed = try owners(of: own.filter { free.contains($0.key) }, isErased)
            return kept.merging(freed) { kept, _ in kept }
        }
        return ownership(of: own).owners
    }

    /// The owners of some transactions, as if the original had no others.
    ///
    /// - Parameter ignored: transactions whose acts do not count.
    private func ownership(
        of own: [ObservedTransaction], ignoringActsOn ignored: Set<TransactionKey> = []
    ) -> Ownership {
        let counted = acts.filter { act in
            switch act.content {
            case .claim(let transaction, _, _), .takeOver(let transaction, _, _), .move(let transaction, _, _):
                !ignored.contains(transaction)
            case .merge: true
            }
        }
        let ordered = merges.isEmpty ? counted : (counted + merges).sorted { $0.entry < $1.entry }
        return Ownership(OwnershipInput(transactions: own, tokens: tokens, acts: ordered))
    }
}

extension ObservedTransaction {
    /// When it was bought.
    fileprivate var date: Timestamp { purchaseDate ?? originalPurchaseDate ?? .epoch }
}
