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
    private let hasErased: Bool

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
        hasErased = history.transactions.contains(where: \.isErased)
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
    private var strangers: Set<Subject> {
        var strangers: Set<Subject> = []
        for claimant in claimants {
            forEachState { _, state in
                if state.owner != claimant { strangers.insert(Subject(claimant, product: state.product)) }
            }
        }
        return strangers
    }

    /// The owners before and now. A pass has a row of the original only for the note that it belongs to another
    /// customer.
    private var owners: Set<Subject> {
        subjects { transaction, state in
            let mayHaveNote = transaction.former.map { $0.owner != transaction.current.owner } ?? false
            let kind = state.terms?.kind
            return kind != .consumable && (kind != .nonRenewing || mayHaveNote)
        }
    }

    /// The passes of which each customer's chain is computed again.
    package func passes(besides erased: Set<CustomerNumber>) -> [Subject] {
        everyPass.sorted().filter { !hasErased || !erased.contains($0.customer) }
    }

    private var everyPass: Set<Subject> {
        subjects { transaction, _ in
            transaction.current.terms?.kind == .nonRenewing || transaction.former?.terms?.kind == .nonRenewing
        }
    }

    // MARK: Lots

    /// A row without access for each customer who had the lot before its owner, or would have it without a token.
    private func notes(besides erased: Set<CustomerNumber>) -> [(subject: Subject, row: Row)] {
        let lot = lot(besides: erased)
        guard lot != nil || hadLot else { return [] }
        let others = Set(lot?.others ?? [])
        var notes: [(subject: Subject, row: Row)] = []
        forEachState { transaction, state in
            guard let owner = state.owner, !others.contains(owner), let former = transaction.former,
                former.owner != transaction.current.owner
            else { return }
            notes.append((Subject(owner, product: state.product), .absent))
        }
        guard let lot, let product = history.product(lot.productID) else { return notes }
        notes += others.subtracting(erased).sorted().map { other in
            (Subject(other, product: product), .note(.ownedByAnother))
        }
        return notes
    }

    /// The owners of some states.
    private func subjects(where isMeant: (ChangedTransaction, ChangedTransaction.State) -> Bool) -> Set<Subject> {
        var subjects: Set<Subject> = []
        forEachState { transaction, state in
            guard let owner = state.owner, isMeant(transaction, state) else { return }
            subjects.insert(Subject(owner, product: state.product))
        }
        return subjects
    }

    /// Passes what is known now and was known before of each transaction, the departed ones included.
    private func forEachState(_ body: (ChangedTransaction, ChangedTransaction.State) -> Void) {
        for transactions in [history.transactions, history.departed] {
            for transaction in transactions {
                body(transaction, transaction.current)
                if let former = transaction.former, former !== transaction.current { body(transaction, former) }
            }
        }
    }
}

extension ChangedHistory {
    /// The number of a product.
    fileprivate func product(_ id: ExactText) -> Int64? {
        transactions.first { $0.current.facts.productID == id }?.current.product
    }
}
