import PurchaseVerification

/// What an entitlement to a product that is not used up rests on.
struct EntitlementGround {
    let since: Timestamp
    let until: Timestamp?
    let source: RecordedPurchase

    /// - Parameter held: all of one customer and product, oldest first; those that were taken back, too.
    init?(_ held: [RecordedPurchase]) {
        let purchases = held.filter { $0.state == .active }
        guard let first = purchases.first, let newest = purchases.last else { return nil }
        since = first.purchasedAt
        switch newest.productKind {
        case .consumable, .nonConsumable: (source, until) = (first, nil)
        case .autoRenewable:
            let last = purchases.max { ($0.expiresAt ?? $0.purchasedAt) < ($1.expiresAt ?? $1.purchasedAt) } ?? newest
            (source, until) = (last, last.expiresAt)
        case .nonRenewing:
            (source, until) = (newest, PaidTime.end(of: held.map(PaidTime.init)))
        }
    }
}

extension LedgerReader {
    /// What an entitlement rests on; `nil` if nothing counts.
    func ground(of key: EntitlementKey) throws(LedgerStorageError) -> EntitlementGround? {
        EntitlementGround(try held(key))
    }

    /// The purchases of a customer and product that are not used up, oldest first; those that were taken back, too.
    func held(_ key: EntitlementKey) throws(LedgerStorageError) -> [RecordedPurchase] {
        var purchases: [RecordedPurchase] = []
        for row in try connection.rows(
            """
            SELECT \(RecordedPurchase.columns) FROM purchases
            WHERE app = ?1 AND customer_id = ?2 AND product_id = ?3 AND environment = ?4
            AND product_type <> 'consumable'
            ORDER BY purchased_at, transaction_id
            """, key.values)
        {
            purchases.append(try RecordedPurchase(row))
        }
        return purchases
    }
}
