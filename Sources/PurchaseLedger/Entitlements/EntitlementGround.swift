import PurchaseVerification

/// What an entitlement to a product that is not used up rests on.
struct EntitlementGround {
    let since: Timestamp
    let until: Timestamp?
    let source: RecordedPurchase

    /// - Parameter purchases: those that count, of one customer and product, oldest first.
    init?(_ purchases: [RecordedPurchase]) {
        guard let first = purchases.first, let newest = purchases.last else { return nil }
        since = first.purchasedAt
        switch newest.productKind {
        case .consumable, .nonConsumable: (source, until) = (first, nil)
        case .autoRenewable:
            let last = purchases.max { ($0.expiresAt ?? $0.purchasedAt) < ($1.expiresAt ?? $1.purchasedAt) } ?? newest
            (source, until) = (last, last.expiresAt)
        case .nonRenewing:
            // Each purchase begins when it was made or when the one before it ends. A restored copy adds no time.
            var originals: Set<String> = []
            var end = first.purchasedAt
            for purchase in purchases where originals.insert(purchase.originalTransactionID).inserted {
                end = max(end, purchase.purchasedAt).adding(purchase.quantity, times: purchase.duration ?? 0)
            }
            (source, until) = (newest, end)
        }
    }
}

extension LedgerReader {
    /// What an entitlement rests on; `nil` if nothing counts.
    func ground(of key: EntitlementKey) throws(LedgerStorageError) -> EntitlementGround? {
        var purchases: [RecordedPurchase] = []
        for row in try connection.rows(
            """
            SELECT \(RecordedPurchase.columns) FROM purchases
            WHERE app = ?1 AND customer_id = ?2 AND product_id = ?3 AND environment = ?4 AND state = 'active'
            ORDER BY purchased_at, transaction_id
            """, key.values)
        {
            purchases.append(try RecordedPurchase(row))
        }
        return EntitlementGround(purchases)
    }
}
