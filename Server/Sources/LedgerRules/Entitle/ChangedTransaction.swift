import PurchaseVerification

/// A transaction before and after a write.
package struct ChangedTransaction: Sendable {
    /// What the ledger knows of it; the same object before and after a write that does not change it.
    package final class State: Sendable {
        package let facts: ObservedTransaction
        /// `nil` if it is held.
        package let owner: CustomerNumber?
        /// The settings under which it counts; `nil` until they agree with the facts.
        package let terms: ProductTerms?
        /// The number of the product.
        package let product: Int64
        /// The rule that gave it its owner (`TransactionOwner.reason`).
        package let ownerReason: String?

        package init(
            _ facts: ObservedTransaction, owner: CustomerNumber?, terms: ProductTerms?, product: Int64 = 0,
            ownerReason: String? = nil
        ) {
            (self.facts, self.owner, self.terms, self.product) = (facts, owner, terms, product)
            self.ownerReason = ownerReason
        }
    }

    /// What was known before; `nil` for a new transaction.
    package let former: State?
    package let current: State
    /// Fields in which new evidence differs.
    package var contradictions: [Contradiction] = []
    /// Whether its cancellation comes from an unsigned App Store answer.
    package var isCancelledByHint = false

    package init(from former: State?, to current: State) { (self.former, self.current) = (former, current) }

    /// The key, which never changes.
    package var key: TransactionKey { current.facts.key }
    /// Whether it has an owner, and had none before.
    package var hasFirstOwner: Bool { current.owner != nil && former?.owner == nil }
    /// Whether its owner was erased. Evidence of a transaction always names its product.
    package var isErased: Bool { current.facts.productID == nil }
    /// When it was bought.
    package var date: Timestamp { current.facts.purchaseDate ?? current.facts.originalPurchaseDate ?? .epoch }
}

extension [ChangedTransaction.State] {
    /// The purchases of a holder. Nothing is left of those of erased customers.
    package func purchases(of holder: PurchaseHolder, _ ownership: Ownership) -> [OwnedPurchase] {
        let own = filter { $0.facts.holder == holder && $0.facts.productID != nil }
        guard let first = own.first else { return [] }
        let facts = own.map(\.facts)
        guard own.contains(where: { $0.terms != first.terms }) else {
            return PurchaseGrouping.purchases(of: facts, owners: ownership) { _ in first.terms }
        }
        let terms = Dictionary(
            own.compactMap { state in state.terms.map { (ObjectIdentifier(state.facts), $0) } },
            uniquingKeysWith: { first, _ in first })
        return PurchaseGrouping.purchases(of: facts, owners: ownership) { terms[ObjectIdentifier($0)] }
    }
}

extension Sequence<ObservedTransaction> {
    /// The holders. Nearly all originals have only the buyer.
    package var holders: [PurchaseHolder] {
        var (isBought, holders): (Bool, Set<PurchaseHolder>) = (false, [])
        for facts in self {
            if facts.holder == .buyer { isBought = true } else { holders.insert(facts.holder) }
        }
        if isBought { holders.insert(.buyer) }
        return holders.sorted { $0.names.lexicographicallyPrecedes($1.names) }
    }
}
