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
                && facts.purchaseDate.map { order.createdAt <= $0 && $0 < order.expiresAt } ?? false
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

    /// Pays the order if the purchase is the customer's and matches, by the rules for a claim that names an order.
    mutating func pay(
        _ changes: LedgerChanges, _ customer: CustomerRow, _ app: RegistryApp, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) {
        let environment = try transaction.environments.keyToWrite(of: named.key.environment)
        guard let place = try changes.place(of: named.key, environment: environment) else { return }
        let record = changes.histories[place.history].records[place.record]
        let isOfErasedCustomer = try changes.isOfErasedCustomer(record, besides: customer.key)
        guard !record.isErased, !isOfErasedCustomer else {
            rejection = Rejection(.purchaseErased)
            return
        }
        let tokenOwner = try changes.identities.customer(of: record.facts.accountToken)
        let purchase = try changes.claimedPurchase(record, in: place.history, named: order)
        let terms = try changes.payments.terms(of: order, purchase: record)
        do throws(Rejection) {
            try ClaimDecision.requireOwner(
                record.row.ownerKey, customer: customer.key, tokenOwner: tokenOwner, facts: record.facts)
            try ClaimDecision.requireTerms(purchase, app.settings)
            try ClaimDecision.requireNotWithdrawn(purchase, named)
            if let refusal = terms.refusal(of: purchase) { throw refusal }
        } catch {
            rejection = error
            return
        }
        guard !terms.isPaidByThis else { return }
        try changes.payments.pay(order, with: record, among: changes.copies(of: record, in: place.history))
    }
}
