import PurchaseVerification

/// The order of a row of an import, and the purchase that pays it.
struct ImportedPayment {
    let order: OrderRow
    /// The purchase that paid the order before; otherwise the first one that matches the order.
    let named: ObservedTransaction
    private(set) var rejection: Rejection?

    /// - Parameter proven: the purchases of the evidence; at least one.
    init?(
        of order: OrderRow, by proven: [ObservedTransaction], _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) {
        let product = ExactText(try transaction.products.id(order.productKey))
        var candidate = proven.first { facts in
            facts.productID == product && facts.quantity == order.quantity
                && facts.purchaseDate.map {
                    OrderTerms.contains($0, from: order.createdAt, to: order.expiresAt)
                } ?? false
        }
        candidate = candidate ?? proven.first { $0.productID == product } ?? proven.first
        if let paidBy = order.paidBy {
            let paid = try transaction.transactions.row(paidBy)
            let match = proven.first { paid.map { ExactText($0.transactionID) } == $0.key.transactionID }
            candidate = match ?? candidate
        }
        guard let candidate else { return nil }
        (self.order, named) = (order, candidate)
    }

    /// Pays the order if the purchase is the customer's and matches.
    mutating func pay(
        _ changes: LedgerChanges, _ customer: CustomerRow, _ app: RegistryApp, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) {
        guard try pays(changes, customer, app, transaction), let (record, history) = try place(changes, transaction)
        else {
            return
        }
        try changes.payments.pay(order, with: record, among: changes.copies(of: record, in: history))
    }

    private func place(
        _ changes: LedgerChanges, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> (record: TransactionRecord, history: Int)? {
        let environment = try transaction.environments.keyToWrite(of: named.key.environment)
        guard let place = try changes.place(of: named.key, environment: environment) else { return nil }
        return (changes.histories[place.history].records[place.record], place.history)
    }

    /// Decides whether the purchase pays the order now, by the rules for a claim that names an order. If it does not, and did not
    /// before, there is a rejection.
    mutating func pays(
        _ changes: LedgerChanges, _ customer: CustomerRow, _ app: RegistryApp, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> Bool {
        guard let (record, history) = try place(changes, transaction) else { return false }
        guard !record.isErased else {
            rejection = Rejection(.purchaseErased)
            return false
        }
        let owner = try changes.claimedOwner(record, by: customer.key, app.settings)
        rejection = ClaimRules.owner.refusal(of: owner)
        let terms = try changes.payments.terms(of: order, purchase: record)
        guard rejection == nil, !terms.isPaidByThis else { return false }
        let purchase = try changes.claimedPurchase(record, in: history, named: order)
        let standing = ClaimStanding(purchase: purchase, proven: named, app: app.settings, now: transaction.now)
        rejection =
            ClaimRules.purchase.refusal(of: standing)
            ?? ClaimRules.order.refusal(of: OrderMatch(terms: terms, purchase: purchase))
        return rejection == nil
    }
}
