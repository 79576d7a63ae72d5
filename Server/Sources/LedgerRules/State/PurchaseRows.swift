import PurchaseVerification

/// The rows that follow from the value of a purchase: access (without chains of passes), owners, the lot, passes, and
/// the amounts of balances. A pure function of the value alone.
package struct PurchaseRows: Sendable {
    /// What a customer has of a product, or why not.
    package struct Access: Sendable, Hashable {
        package let customer: CustomerNumber
        package let product: ExactText
        package let row: Row

        package init(_ customer: CustomerNumber, _ product: ExactText, _ row: Row) {
            (self.customer, self.product, self.row) = (customer, product, row)
        }

        package enum Row: Sendable, Hashable {
            case access(AccessTimeline, ProductKind)
            case note(NoAccessReason)
        }
    }

    /// The lot of a consumable.
    package struct Lot: Sendable, Equatable {
        package let product: ExactText
        /// Its product has no number here.
        package let lot: LotChange.Lot
    }

    /// A pass, which the chain of its owner's passes of that product contains.
    package struct Pass: Sendable, Equatable {
        package let customer: CustomerNumber
        package let product: ExactText
        package let start: Timestamp
        package let units: Int64
        package let duration: PassDuration
        package let withdrawal: Withdrawal?
        package let transaction: TransactionKey?
    }

    /// What a customer's connection with the purchase is.
    package enum Role: Sendable, Hashable { case owner, former, taker, token, claimant }

    package private(set) var access: [Access] = []
    /// The owner of each transaction that has one, and the rule that gave it.
    package private(set) var owners: [TransactionKey: TransactionOwner] = [:]
    package private(set) var roles: [CustomerNumber: Set<Role>] = [:]
    package private(set) var lot: Lot?
    package private(set) var passes: [Pass] = []
    /// The part of each customer's balance.
    package private(set) var amounts: [CustomerNumber: ConsumableBalance] = [:]

    package init(of state: PurchaseState) {
        let inputs = state.inputs
        let states = inputs.transactions.map { known in
            ChangedTransaction.State(
                known.facts, owner: nil, terms: known.kind.map { ProductTerms(kind: $0, duration: known.duration) })
        }
        var grounds: [Subject: [AccessGround]] = [:]
        var lot: ConsumableLot?
        let (tokens, acts, merges) = (inputs.assignments, inputs.claimsAndMoves, inputs.orderedMerges)
        for holder in states.lazy.map(\.facts).holders {
            let own = inputs.transactions.lazy.filter { $0.facts.holder == holder }
            let ownership = OwnershipHistory(
                own.map { ($0.facts, $0.knownAt) }, acts: acts, merges: merges, tokens: tokens
            ).ownership(known: [], isErased: inputs.erased.contains, isErasedBefore: inputs.erased.contains)
            owners.merge(ownership.owners.filter { $0.value.customer != nil }) { first, _ in first }
            let given = OriginalAccess(
                states.purchases(of: holder, ownership), renewal: inputs.renewal,
                revocations: inputs.handRevocations(of: holder), status: inputs.statuses[holder.name])
            for ground in given.grounds where !inputs.erased.contains(ground.customer) {
                grounds[Subject(customer: ground.customer, product: ground.productID), default: []].append(ground)
            }
            passes += given.passes.compactMap { Pass($0, erased: inputs.erased) }
            if holder == .buyer { lot = given.lots.first }
        }
        if let owner = lot?.owner, inputs.erased.contains(owner) { lot = nil }
        var rows = grounds.compactMapValues { $0.joined.map { Access.Row.access($0.timeline, $0.kind) } }
        for other in lot?.others ?? [] where !inputs.erased.contains(other) {
            guard let lot else { continue }
            rows[Subject(customer: other, product: lot.productID)] = .note(.ownedByAnother)
        }
        access = rows.map { Access($0.key.customer, $0.key.product, $0.value) }
        self.lot = lot.flatMap { Lot($0, takes: inputs.takes) }
        if let lot = self.lot {
            for customer in Set(inputs.takes.keys).union([lot.lot.owner]) where !inputs.erased.contains(customer) {
                amounts[customer] = lot.lot.part(of: customer, taken: inputs.takes[customer] ?? 0)
            }
        }
        note(inputs)
    }

    private struct Subject: Hashable {
        let customer: CustomerNumber
        let product: ExactText
    }

    private mutating func note(_ inputs: PurchaseInputs) {
        for owner in owners.values {
            if let customer = owner.customer { roles[customer, default: []].insert(.owner) }
            for other in owner.others { roles[other, default: []].insert(.former) }
        }
        for customer in inputs.takes.keys { roles[customer, default: []].insert(.taker) }
        for customer in inputs.tokens.values { roles[customer, default: []].insert(.token) }
        for act in inputs.acts {
            switch act.content {
            case .claim(_, let customer, _): roles[customer, default: []].insert(.claimant)
            case .takeOver(_, let guest, let customer):
                roles[guest, default: []].insert(.former)
                roles[customer, default: []].insert(.claimant)
            case .move(_, let from, let to):
                if let from { roles[from, default: []].insert(.former) }
                roles[to, default: []].insert(.claimant)
            case .merge: break
            }
        }
        for customer in inputs.erased { roles[customer] = nil }
    }
}

extension PurchaseRows.Lot {
    fileprivate init?(_ lot: ConsumableLot, takes: [CustomerNumber: Int64]) {
        guard var stored = LotChange.Lot(lot, product: 0) else { return nil }
        stored.taken = takes[stored.owner] ?? 0
        self.init(product: lot.productID, lot: stored)
    }
}

extension PurchaseRows.Pass {
    fileprivate init?(_ pass: OwnedPurchase, erased: Set<CustomerNumber>) {
        guard let owner = pass.owner, let product = pass.productID, let duration = pass.terms?.duration,
            pass.refusal == nil, !erased.contains(owner)
        else { return nil }
        self.init(
            customer: owner, product: product, start: pass.start, units: pass.quantity, duration: duration,
            withdrawal: pass.withdrawal, transaction: pass.transaction)
    }
}

extension PurchaseInputs {
    fileprivate var claimsAndMoves: [OwnershipAct] { acts.filter { !$0.isMerge } }
    fileprivate var orderedMerges: [OwnershipAct] { acts.filter(\.isMerge).sorted { $0.entry < $1.entry } }

    /// The customers of the tokens by which owners are found.
    fileprivate var assignments: TokenAssignments {
        let own = Set(transactions.compactMap { $0.token == $0.facts.accountToken ? $0.token : nil })
        var assigned = TokenAssignments(tokens.filter { own.contains($0.key) })
        for known in transactions where known.token != known.facts.accountToken {
            guard let token = known.token, let customer = tokens[token] else { continue }
            assigned.keep(customer, of: known.facts.key)
        }
        return assigned
    }

    /// The manual revocations of a holder's copies.
    fileprivate func handRevocations(of holder: PurchaseHolder) -> [HandRevocation] {
        revocations.compactMap { revocation in
            let named = revocation.transaction.flatMap { key in transactions.first { $0.facts.key == key } }
            // The copies of a member who was erased have no name. It must not stand for those of the others.
            guard revocation.isShared ? named?.facts.ownership.holder == holder : holder == .buyer else { return nil }
            return HandRevocation(
                target: .purchase(OwnershipKey(original: key, holder: holder)), from: revocation.from,
                liftedAt: revocation.liftedAt)
        }
    }
}

extension OwnershipAct {
    fileprivate var isMerge: Bool { if case .merge = content { true } else { false } }
}
