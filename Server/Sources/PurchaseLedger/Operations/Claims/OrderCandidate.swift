import PurchaseVerification

extension LedgerTransaction {
    /// The purchase for an order that evidence of several purchases came with: the one that paid the order before, or a
    /// copy of it, otherwise the first one that matches the order.
    func purchase(
        for order: OrderRow, among proven: [ObservedTransaction]
    ) throws(LedgerStorageError) -> ObservedTransaction? {
        if let paidBy = order.paidBy, let row = try transactions.row(paidBy) {
            let paid = try row.observed(in: try environments.environment(row.environment))
            let others = proven.filter { $0.ownership == paid.ownership && $0.key != paid.key }
            let copies =
                PurchaseGrouping.purchases(of: [paid] + others, owners: Ownership(owners: [:])) { _ in nil }
                .first { $0.transactions.contains { $0.key == paid.key } }?.transactions ?? []
            if let match = proven.first(where: { facts in copies.contains { $0.key == facts.key } }) { return match }
        }
        let product = ExactText(try products.id(order.productKey))
        let match = proven.first { facts in
            facts.productID == product && facts.quantity == order.quantity
                && facts.purchaseDate.map {
                    OrderTerms.contains($0, from: order.createdAt, to: order.expiresAt)
                } ?? false
        }
        return match ?? proven.first { $0.productID == product } ?? proven.first
    }
}
