import PurchaseVerification

/// Which rows of access change with an original: a function of its transactions before and after, and of their owners.
///
/// It reads nothing: whether a customer was erased it learns in a second step (`unsure`).
package struct EntitlementChange: Sendable {
    /// A customer's access to a product.
    package struct Subject: Sendable, Hashable, Comparable {
        package let customer: CustomerNumber
        /// The number of the product.
        package let product: Int64

        package init(_ customer: CustomerNumber, product: Int64) { (self.customer, self.product) = (customer, product) }

        package static func < (left: Subject, right: Subject) -> Bool {
            (left.customer, left.product) < (right.customer, right.product)
        }
    }

    /// What the row of a subject becomes.
    package enum Row: Sendable, Equatable {
        case access(AccessTimeline, ProductKind)
        /// The lot gives this customer nothing.
        case note(NoAccessReason)
        case absent

        package init(_ grounds: [AccessGround]) {
            self = grounds.joined.map { .access($0.timeline, $0.kind) } ?? .absent
        }
    }

    private let history: ChangedHistory
    private let claimants: Set<CustomerNumber>
    private let grounds: [Subject: [AccessGround]]
    private let lot: ConsumableLot?
    private let hadLot: Bool

    /// - Parameters:
    ///   - access: the access that the original gives, by holder.
    ///   - claimants: all customers who ever claimed it or had it transferred to them. Better facts can end the part
    ///     that one of them has in it; then their rows are deleted.
    ///   - hadLot: whether it had a lot.
    package init(
        _ history: ChangedHistory, _ access: [PurchaseHolder: OriginalAccess], claimants: Set<CustomerNumber>,
        hadLot: Bool
    ) {
        (self.history, self.claimants, self.hadLot) = (history, claimants, hadLot)
        lot = access[.buyer]?.lots.first
        var grounds: [Subject: [AccessGround]] = [:]
        for holder in access.keys.sorted(by: { $0.names.lexicographicallyPrecedes($1.names) }) {
            for ground in access[holder]?.grounds ?? [] {
                guard let product = history.product(ground.productID) else { continue }
                grounds[Subject(ground.customer, product: product), default: []].append(ground)
            }
        }
        self.grounds = grounds
    }

    // MARK: What is needed

    /// The customers of whom it must be known whether they were erased. Nothing is written for those.
    package var unsure: Set<CustomerNumber> {
        var unsure = Set(grounds.keys.map(\.customer).filter { !isCertain($0) })
        unsure.formUnion(lot?.others ?? [])
        if hasErased {
            unsure.formUnion([lot?.owner].compactMap(\.self))
            unsure.formUnion(everyPass.map(\.customer))
        }
        return unsure
    }

    private var hasErased: Bool { history.transactions.contains(where: \.isErased) }

    /// The current owners of an original without erased purchases are customers with names.
    private func isCertain(_ customer: CustomerNumber) -> Bool {
        !hasErased && history.transactions.contains { $0.current.owner == customer }
    }

    // MARK: What changes

    /// The lot afterwards.
    package func lot(besides erased: Set<CustomerNumber>) -> ConsumableLot? {
        guard hasErased, let owner = lot?.owner, erased.contains(owner) else { return lot }
        return nil
    }

    /// The stored form of the lot; `nil` if it is held.
    package func stored(_ lot: ConsumableLot?) -> LotChange.Lot? {
        lot.flatMap { lot in history.product(lot.productID).flatMap { LotChange.Lot(lot, product: $0) } }
    }

    /// The rows of the original, in the order in which they are written.
    package func rows(besides erased: Set<CustomerNumber>) -> [(subject: Subject, row: Row)] {
        var subjects = Set(grounds.keys).union(owners)
        if hasNewFacts { subjects.formUnion(strangers) }
        let access: [(subject: Subject, row: Row)] = subjects.sorted().map { subject in
            let own = erased.contains(subject.customer) && !isCertain(subject.customer) ? [] : grounds[subject] ?? []
            return (subject, Row(own))
        }
        return access + notes(besides: erased)
    }

    private var hasNewFacts: Bool {
        !history.departed.isEmpty
            || history.transactions.contains { $0.former?.facts !== $0.current.facts }
    }

    /// Everybody who claimed a transaction that is not theirs.
    private var strangers: [Subject] {
        states { _, _ in true }.flatMap { state in
            claimants.filter { $0 != state.owner }.map { Subject($0, product: state.product) }
        }
    }

    /// The owners before and now. A pass has a row of the original only for the note that it belongs to another
    /// customer.
    private var owners: [Subject] {
        states { transaction, state in
            let mayHaveNote = transaction.former.map { $0.owner != transaction.current.owner } ?? false
            let kind = state.terms?.kind
            return kind != .consumable && (kind != .nonRenewing || mayHaveNote)
        }.compactMap(\.subject)
    }

    /// The passes of which each customer's chain is computed again.
    package func passes(besides erased: Set<CustomerNumber>) -> [Subject] {
        let passes = Set(everyPass).sorted()
        return hasErased ? passes.filter { !erased.contains($0.customer) } : passes
    }

    private var everyPass: [Subject] {
        states { transaction, _ in
            transaction.current.terms?.kind == .nonRenewing || transaction.former?.terms?.kind == .nonRenewing
        }.compactMap(\.subject)
    }

    // MARK: Lots

    /// A row without access for each customer who had the lot before its owner, or would have it without a token.
    private func notes(besides erased: Set<CustomerNumber>) -> [(subject: Subject, row: Row)] {
        let lot = lot(besides: erased)
        guard lot != nil || hadLot else { return [] }
        let others = Set(lot?.others ?? [])
        var notes: [(subject: Subject, row: Row)] = states { transaction, state in
            guard let former = transaction.former, former.owner != transaction.current.owner else { return false }
            return state.owner.map { !others.contains($0) } ?? false
        }.compactMap(\.subject).map { ($0, .absent) }
        guard let lot, let product = history.product(lot.productID) else { return notes }
        notes += others.subtracting(erased).sorted().map { other in
            (Subject(other, product: product), .note(.ownedByAnother))
        }
        return notes
    }

    /// What is known now and was known before of each transaction, the departed ones included.
    private func states(
        _ isMeant: (ChangedTransaction, ChangedTransaction.State) -> Bool
    ) -> [ChangedTransaction.State] {
        (history.transactions + history.departed).flatMap { transaction in
            [transaction.current, transaction.former].compactMap(\.self).filter { isMeant(transaction, $0) }
        }
    }
}

extension ChangedTransaction.State {
    fileprivate var subject: EntitlementChange.Subject? {
        owner.map { EntitlementChange.Subject($0, product: product) }
    }
}

extension ChangedHistory {
    /// The number of a product.
    fileprivate func product(_ id: ExactText) -> Int64? {
        transactions.first { $0.current.facts.productID == id }?.current.product
    }
}
