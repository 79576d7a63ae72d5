import PurchaseVerification

extension LedgerTransaction {
    /// The purchase for an order that evidence of several purchases came with: the one that paid the order before,
    /// otherwise the first one that matches the order.
    func purchase(
        for order: OrderRow, among proven: [ObservedTransaction]
    ) throws(LedgerStorageError) -> ObservedTransaction? {
        if let paidBy = order.paidBy {
            let paid = try transactions.row(paidBy)
            let match = proven.first { paid.map { ExactText($0.transactionID) } == $0.key.transactionID }
            if let match { return match }
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
