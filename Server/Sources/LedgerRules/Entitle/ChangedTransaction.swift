import PurchaseVerification

/// A transaction before and after a write.
package struct ChangedTransaction: Sendable {
    /// What the ledger knows of it.
    package struct State: Sendable {
        package var facts: ObservedTransaction
        /// `nil` if it is held.
        package var owner: CustomerNumber?
        /// The settings under which it counts; `nil` until they agree with the facts.
        package var terms: ProductTerms?
        /// The number of the product.
        package var product: Int64
        /// The rule that gave it its owner (`TransactionOwner.reason`).
        package var ownerReason: String?

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
        let own = filter { $0.facts.ownership.holder == holder && $0.facts.productID != nil }
        guard let first = own.first else { return [] }
        guard own.count > 1 else {
            return PurchaseGrouping.purchases(of: [first.facts], owners: ownership) { _ in first.terms }
        }
        let terms = Dictionary(
            own.compactMap { state in state.terms.map { (ObjectIdentifier(state.facts), $0) } },
            uniquingKeysWith: { first, _ in first })
        return PurchaseGrouping.purchases(of: own.map(\.facts), owners: ownership) { terms[ObjectIdentifier($0)] }
    }

    /// The holders. Nearly all originals have only the buyer.
    package var holders: [PurchaseHolder] {
        guard contains(where: { $0.facts.ownership.holder != .buyer }) else { return isEmpty ? [] : [.buyer] }
        return Set(map(\.facts.ownership.holder)).sorted { $0.names.lexicographicallyPrecedes($1.names) }
    }
}
