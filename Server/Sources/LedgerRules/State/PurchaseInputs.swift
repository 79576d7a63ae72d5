import PurchaseVerification

/// What is known of a purchase, in any order: `PurchaseState` is made of it, and gives it back to the rules.
package struct PurchaseInputs {
    /// A transaction.
    package struct Transaction {
        package var facts: ObservedTransaction
        /// When it was first observed; of an erased transaction, when it was erased.
        package var knownAt: Timestamp
        package var kind: ProductKind?
        package var duration: PassDuration?
        /// The token by which its owner is found: that of the facts or, after an erasure, what stands for it.
        package var token: AppAccountToken?

        package init(
            _ facts: ObservedTransaction, knownAt: Timestamp, kind: ProductKind?, duration: PassDuration?,
            token: AppAccountToken?
        ) {
            (self.facts, self.knownAt, self.kind, self.duration) = (facts, knownAt, kind, duration)
            self.token = token
        }
    }

    /// An operator's revocation.
    package struct Revocation {
        package var entry: Int64
        package var from: Timestamp
        package var liftedAt: Timestamp?
        /// Whether it revokes a member's copies, and the transaction that named the member.
        package var isShared: Bool
        package var transaction: TransactionKey?

        package init(entry: Int64, from: Timestamp, liftedAt: Timestamp?, isShared: Bool, transaction: TransactionKey?)
        {
            (self.entry, self.from, self.liftedAt) = (entry, from, liftedAt)
            (self.isShared, self.transaction) = (isShared, transaction)
        }
    }

    package var app: Int64
    package var key: OriginalKey
    package var transactions: [Transaction] = []
    /// Claims, transfers, and the merges of customers of this purchase, in the order of the journal.
    package var acts: [OwnershipAct] = []
    /// The customers of this purchase who were erased.
    package var erased: Set<CustomerNumber> = []
    /// The customers of its tokens, as assigned.
    package var tokens: [AppAccountToken: CustomerNumber] = [:]
    package var renewal: ObservedRenewal?
    /// The newest signed status of each holder, by the holder's name.
    package var statuses: [String: SignedStatus] = [:]
    /// The units that each customer took from the lot.
    package var takes: [CustomerNumber: Int64] = [:]
    package var revocations: [Revocation] = []
    /// The orders that transactions paid.
    package var payments: [TransactionKey: Int64] = [:]

    package init(app: Int64, key: OriginalKey) { (self.app, self.key) = (app, key) }
}

extension PurchaseState {
    /// The value of a purchase.
    package init(_ inputs: PurchaseInputs) {
        var texts = StateTexts()
        app = inputs.app
        environment = texts.place(ExactText(inputs.key.environment.name))
        (id, second) = (texts.place(inputs.key.transactionID), inputs.key.second)
        let named =
            inputs.transactions.flatMap { [$0.token, $0.facts.accountToken] }
            + (inputs.renewal?.statements.map(\.info.accountToken) ?? [])
        tokens = Set(named.compactMap(\.self)).sorted().map { token in
            var entry = Token()
            (entry.token, entry.customer) = (token, inputs.tokens[token]?.rawValue)
            return entry
        }
        let places = Dictionary(
            uniqueKeysWithValues: tokens.enumerated().map { ($0.element.token, UInt32($0.offset)) })
        let sorted = inputs.transactions.sorted {
            ($0.facts.key.transactionID, $0.facts.key.second) < ($1.facts.key.transactionID, $1.facts.key.second)
        }
        transactions = sorted.map { known in
            var facts = StateFacts(known.facts, &texts, places)
            (facts.knownAt, facts.kind, facts.duration) = (known.knownAt, known.kind, known.duration)
            guard known.token != known.facts.accountToken else { return facts }
            facts.otherToken = known.token.flatMap { places[$0] }
            facts.isTokenForgotten = known.token == nil
            return facts
        }
        let numbers = Dictionary(
            sorted.enumerated().map { ($0.element.facts.key, UInt32($0.offset)) },
            uniquingKeysWith: { first, _ in first })
        for act in inputs.acts { add(act, numbers) }
        acts.sort { ($0.entry, $0.transaction) < ($1.entry, $1.transaction) }
        merges.sort { ($0.entry, $0.customer) < ($1.entry, $1.customer) }
        erasures = inputs.erased.map(\.rawValue).sorted().map { customer in
            var erasure = Erasure()
            erasure.customer = customer
            return erasure
        }
        renewals = inputs.renewal?.statements.map { StateRenewal($0, &texts, places) } ?? []
        statuses = inputs.statuses.map { name, status in
            var entry = Status()
            (entry.holder, entry.value, entry.stamp) = (texts.place(ExactText(name)), status.value, status.stamp)
            return entry
        }
        takes = inputs.takes.map { customer, units in
            var take = Take()
            (take.customer, take.units) = (customer.rawValue, units)
            return take
        }.sorted { $0.customer < $1.customer }
        revocations = inputs.revocations.map { revocation in
            var entry = Revocation()
            (entry.entry, entry.from, entry.liftedAt) = (revocation.entry, revocation.from, revocation.liftedAt)
            (entry.isShared, entry.transaction) = (revocation.isShared, revocation.transaction.flatMap { numbers[$0] })
            return entry
        }.sorted { $0.entry < $1.entry }
        payments = inputs.payments.compactMap { transaction, order in
            numbers[transaction].map { place in
                var payment = Payment()
                (payment.transaction, payment.order) = (place, order)
                return payment
            }
        }.sorted { ($0.transaction, $0.order) < ($1.transaction, $1.order) }
        let (ordered, mapper) = texts.sorted
        self.texts = ordered
        map(mapper)
        statuses.sort { $0.holder < $1.holder }
        renewals.sort { $0.isBefore($1) }
    }

    private mutating func add(_ act: OwnershipAct, _ numbers: [TransactionKey: UInt32]) {
        var entry = Act()
        entry.entry = act.entry
        switch act.content {
        case .merge(let customer, into: let target):
            var merge = Merge()
            (merge.entry, merge.customer, merge.target) = (act.entry, customer.rawValue, target.rawValue)
            merges.append(merge)
            return
        case .claim(let transaction, let customer, let mayTransfer):
            guard let number = numbers[transaction] else { return }
            (entry.transaction, entry.customer, entry.kind) = (number, customer.rawValue, mayTransfer ? 1 : 0)
        case .takeOver(let transaction, let guest, let customer):
            guard let number = numbers[transaction] else { return }
            (entry.transaction, entry.customer, entry.kind) = (number, customer.rawValue, 3)
            entry.former = guest.rawValue
        case .move(let transaction, let from, let to):
            guard let number = numbers[transaction] else { return }
            (entry.transaction, entry.customer, entry.former, entry.kind) = (number, to.rawValue, from?.rawValue, 2)
        }
        acts.append(entry)
    }

    /// What the rules read of the value.
    package var inputs: PurchaseInputs {
        let place = AppStoreEnvironment(texts[environment].string)
        let original = OriginalKey(environment: place, transactionID: texts[id], second: second)
        var inputs = PurchaseInputs(app: app, key: original)
        inputs.transactions = transactions.map { facts in
            let key = TransactionKey(environment: place, transactionID: texts[facts.id], second: facts.second)
            let known = ObservedTransaction(key: key, fields: facts.fields(in: self))
            let token =
                facts.isTokenForgotten ? nil : facts.otherToken.map { tokens[Int($0)].token } ?? known.accountToken
            return PurchaseInputs.Transaction(
                known, knownAt: facts.knownAt, kind: facts.kind, duration: facts.duration, token: token)
        }
        let keys = inputs.transactions.map(\.facts.key)
        inputs.acts = acts.map { act in
            let (transaction, customer) = (keys[Int(act.transaction)], CustomerNumber(rawValue: act.customer))
            let former = act.former.map { CustomerNumber(rawValue: $0) }
            let content: OwnershipAct.Content =
                switch (act.kind, former) {
                case (2, _): .move(transaction: transaction, from: former, to: customer)
                case (3, let guest?): .takeOver(transaction: transaction, from: guest, by: customer)
                default: .claim(transaction: transaction, customer: customer, mayTransfer: act.kind == 1)
                }
            return OwnershipAct(entry: act.entry, content: content)
        }
        inputs.acts += merges.map { merge in
            OwnershipAct(
                entry: merge.entry,
                content: .merge(CustomerNumber(rawValue: merge.customer), into: CustomerNumber(rawValue: merge.target)))
        }
        inputs.erased = Set(erasures.map { CustomerNumber(rawValue: $0.customer) })
        for token in tokens { inputs.tokens[token.token] = token.customer.map { CustomerNumber(rawValue: $0) } }
        let renewal = RenewalKey(environment: place, originalTransactionID: original.transactionID)
        inputs.renewal = ObservedRenewal(renewals.map { $0.statement(of: renewal, in: self) })
        for status in statuses {
            inputs.statuses[texts[status.holder].string] = SignedStatus(value: status.value, stamp: status.stamp)
        }
        for take in takes { inputs.takes[CustomerNumber(rawValue: take.customer)] = take.units }
        inputs.revocations = revocations.map { revocation in
            PurchaseInputs.Revocation(
                entry: revocation.entry, from: revocation.from, liftedAt: revocation.liftedAt,
                isShared: revocation.isShared, transaction: revocation.transaction.map { keys[Int($0)] })
        }
        for payment in payments { inputs.payments[keys[Int(payment.transaction)]] = payment.order }
        return inputs
    }
}
