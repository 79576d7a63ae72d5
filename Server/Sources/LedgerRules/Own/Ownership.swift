import PurchaseVerification

/// The owner of each transaction of an original (docs/ledger.md, "Own"): a fold over the final facts and the acts in
/// the journal.
///
/// Facts are applied first and acts follow in order, so the time at which evidence arrived does not matter.
public struct Ownership: Sendable {
    /// The owner of each transaction.
    public let owners: [TransactionKey: TransactionOwner]

    /// The limit for the other owners that a transaction lists; the latest ones are kept. A shared receipt can have
    /// thousands.
    static let otherCount = 16

    /// Owners that are known.
    package init(owners: [TransactionKey: TransactionOwner]) { self.owners = owners }

    /// Computes the owners.
    public init(_ input: OwnershipInput) {
        let transactions = input.transactions.inOrderOfPurchase()
        var fold = OwnershipFold(transactions, tokens: input.tokens)
        if !input.acts.isEmpty { fold.apply(input.acts, to: transactions) }
        fold.finish()
        var owners: [TransactionKey: TransactionOwner] = [:]
        owners.reserveCapacity(transactions.count)
        for (place, transaction) in transactions.enumerated() { owners[transaction.key] = fold.owner(at: place) }
        self.owners = owners
    }
}

/// The fold. Transactions that always have the same owner form one class, so an act costs time in proportion to the
/// number of classes, not of transactions.
private struct OwnershipFold {
    /// The reason why transactions have the same owner.
    private enum Class: Hashable {
        /// They carry a token of this customer.
        case ownToken(CustomerNumber)
        /// The nearest earlier transaction with a known token has a token of this customer.
        case inheritedToken(CustomerNumber)
        /// There is no known token before them.
        case unnamed
    }

    /// The class of each transaction, in the order of purchase.
    private var classes: [Class] = []
    /// The transaction from which each transaction inherits a token.
    private var namesakes: [TransactionKey?] = []
    /// The places of the transactions, if there are acts on them.
    private var places: [TransactionKey: Int] = [:]
    private var holdings: [Class: TransactionOwner] = [:]
    /// The classes that were claimed.
    private var claimed: Set<Class> = []
    private var merges = CustomerMerges()

    init(_ transactions: [ObservedTransaction], tokens: TokenAssignments) {
        var named: (transaction: TransactionKey, customer: CustomerNumber)?
        for transaction in transactions {
            if let customer = tokens.customer(of: transaction) {
                named = (transaction.key, customer)
                enter(.ownToken(customer), TransactionOwner(customer: customer, ground: .ownToken))
            } else if let named {
                enter(
                    .inheritedToken(named.customer),
                    TransactionOwner(customer: named.customer, ground: .inheritedToken(named.transaction)),
                    namesake: named.transaction)
            } else {
                enter(.unnamed, TransactionOwner())
            }
        }
    }

    private mutating func enter(_ class: Class, _ owner: TransactionOwner, namesake: TransactionKey? = nil) {
        // Most transactions are of the class of the one before, and all of a class have one owner.
        if classes.last != `class` { holdings[`class`] = owner }
        classes.append(`class`)
        namesakes.append(namesake)
    }

    func owner(at place: Int) -> TransactionOwner {
        guard var owner = holdings[classes[place]] else { return TransactionOwner() }
        if let namesake = namesakes[place] { owner.ground = .inheritedToken(namesake) }
        return owner
    }

    private func `class`(of key: TransactionKey) -> Class? { places[key].map { classes[$0] } }

    /// Replaces each customer with the one they were merged into.
    mutating func finish() {
        for (`class`, holding) in holdings {
            var finished = holding
            finished.customer = holding.customer.map(merges.resolve)
            var seen = Set([finished.customer].compactMap(\.self))
            let others = holding.others.reversed().map(merges.resolve).filter { seen.insert($0).inserted }
            finished.others = others.prefix(Ownership.otherCount).reversed()
            holdings[`class`] = finished
        }
    }

    mutating func apply(_ acts: [OwnershipAct], to transactions: [ObservedTransaction]) {
        places.reserveCapacity(transactions.count)
        for (place, transaction) in transactions.enumerated() { places[transaction.key] = place }
        for act in acts { apply(act) }
    }

    private mutating func apply(_ act: OwnershipAct) {
        switch act.content {
        case .claim(let transaction, let customer, let mayTransfer):
            claim(transaction, by: merges.resolve(customer), mayTransfer: mayTransfer, entry: act.entry)
        case .takeOver(let transaction, let guest, let customer):
            takeOver(
                transaction, from: merges.resolve(guest), by: merges.resolve(customer), entry: act.entry)
        case .move(let transaction, let from, let to):
            move(transaction, from: from.map(merges.resolve), to: merges.resolve(to), entry: act.entry)
        case .merge(let customer, let target):
            merge(customer, into: target, entry: act.entry)
        }
    }

    private mutating func claim(
        _ transaction: TransactionKey, by customer: CustomerNumber, mayTransfer: Bool, entry: Int64
    ) {
        guard let `class` = `class`(of: transaction), let holding = holdings[`class`] else { return }
        let isFirst = claimed.insert(`class`).inserted
        if let holder = holding.customer, holder != customer {
            // The first claimant, or the new one under `move`, owned it while the token was unknown.
            let hadIt = `class` != .unnamed && (isFirst || mayTransfer)
            if hadIt { holdings[`class`]?.others.append(customer) }
            // A token that names another customer takes precedence over the claim, whenever it became known.
            if case .ownToken = `class` { return }
            guard mayTransfer else { return }
            replace(holder, by: customer, .transfer(entry: entry)) { if case .ownToken = $0 { false } else { true } }
        }
        takeHeld(customer, .claim(entry: entry))
    }

    /// The guest's own account token does not prevent it, and that of any other customer does. If the guest does not
    /// own the transaction, it is a claim like any other.
    private mutating func takeOver(
        _ transaction: TransactionKey, from guest: CustomerNumber, by customer: CustomerNumber, entry: Int64
    ) {
        func isTaken(_ class: Class) -> Bool { if case .ownToken(let owner) = `class` { owner == guest } else { true } }
        guard let `class` = `class`(of: transaction), holdings[`class`]?.customer == guest, isTaken(`class`) else {
            return claim(transaction, by: customer, mayTransfer: false, entry: entry)
        }
        claimed.insert(`class`)
        replace(guest, by: customer, .transfer(entry: entry), where: isTaken)
    }

    private mutating func move(
        _ transaction: TransactionKey, from: CustomerNumber?, to: CustomerNumber, entry: Int64
    ) {
        guard let `class` = `class`(of: transaction) else { return }
        if let from {
            replace(from, by: to, .move(entry: entry)) { _ in true }
        } else if `class` == .unnamed {
            takeHeld(to, .move(entry: entry))
        }
    }

    private mutating func merge(_ customer: CustomerNumber, into target: CustomerNumber, entry: Int64) {
        do throws(CustomerMerges.Refusal) {
            try merges.merge(customer, into: target)
        } catch {
            // Unreachable for a journal of Assay: the operation refuses such a merge.
            return
        }
        replace(customer, by: merges.resolve(target), .merge(entry: entry)) { _ in true }
    }

    /// The first claimant owns a transaction without a token.
    private mutating func takeHeld(_ customer: CustomerNumber, _ ground: TransactionOwner.Ground) {
        guard var holding = holdings[.unnamed], holding.customer == nil else { return }
        (holding.customer, holding.ground) = (customer, ground)
        holdings[.unnamed] = holding
    }

    private mutating func replace(
        _ holder: CustomerNumber, by customer: CustomerNumber, _ change: TransactionOwner.Change,
        where isAffected: (Class) -> Bool
    ) {
        guard holder != customer else { return }
        for (`class`, holding) in holdings where holding.customer == holder && isAffected(`class`) {
            var changed = holding
            changed.customer = customer
            changed.change = change
            changed.others.append(holder)
            holdings[`class`] = changed
        }
    }
}

extension [ObservedTransaction] {
    /// Sorted by date of purchase, then by id. Transactions without a date come first.
    func inOrderOfPurchase() -> [ObservedTransaction] {
        func moment(_ transaction: ObservedTransaction) -> Timestamp {
            transaction.purchaseDate ?? transaction.originalPurchaseDate ?? .epoch
        }
        return sortedUnlessInOrder { left, right in
            let moments = (moment(left), moment(right))
            guard moments.0 == moments.1 else { return moments.0 < moments.1 }
            return ExactText.isNumericallyBefore(left.key.transactionID, right.key.transactionID)
        }
    }
}
