import PurchaseVerification

extension BooksAudit {
    /// Compares the books with what the events say. What follows from these, the other entitlements and the owners of original
    /// transactions, is compared with them.
    func findings(_ connection: any LedgerConnection, pageSize: Int) throws(LedgerStorageError) -> [Audit.Finding] {
        var comparison = BooksComparison(connection: connection, pageSize: pageSize)
        try comparison.compare(
            "purchases", RecordedPurchase.columns, key: ["app", "environment", "transaction_id"], name: [2],
            expected: purchases.mapValues { $0.event.transactionID ?? "" }
        ) { row, key throws(LedgerStorageError) in
            let purchase = try RecordedPurchase(row)
            return purchases[key].map { purchase.image == $0.image(beside: purchase) }
        }
        try comparison.compare(
            "orders", Order.columns, key: ["order_id"], name: [0], expected: orders.mapValues { $0.event.orderID ?? "" }
        ) { row, key throws(LedgerStorageError) in
            let order = try Order(row)
            return orders[key].map { order.image == $0.image(beside: order) }
        }
        try comparison.compare(
            "consumptions", "app, customer_id, consumption_id, product_id, environment, quantity, consumed_at, balance",
            key: ["app", "customer_id", "consumption_id"], name: [2],
            expected: consumptions.mapValues { $0.event.detail ?? "" }
        ) { row, key in
            consumptions[key].map { made in
                let event = made.event
                return HashChain.encoding(Array(row.values.dropFirst(3)))
                    == HashChain.encoding([
                        .text(event.productID), .text(event.environment), .integer(event.quantity), .time(event.at),
                        .integer(made.balance),
                    ])
            }
        }
        try comparison.compare(
            "withdrawals", RecordedWithdrawal.columns, key: ["app", "environment", "transaction_id"], name: [2],
            expected: withdrawals.mapValues { $0.transactionID ?? "" }
        ) { row, key throws(LedgerStorageError) in
            let found = try RecordedWithdrawal(row)
            return withdrawals[key].map { event in
                Self.image(found.productID, found.submissionID, found.terms)
                    == Self.image(event.productID, event.submissionID, event.detail) && found.recordedAt == event.at
            }
        }
        try comparison.compare(
            "api_keys", "\(APIKey.columns), secret_sha256", key: ["key_id"], name: [0],
            expected: keys.mapValues { $0.event.detail ?? "" }
        ) { row, key throws(LedgerStorageError) in
            let found = try APIKey(row)
            guard case .text(let secret)? = row.values.last else { return false }
            return keys[key].map { key in
                Self.image(found.app, found.terms(secretSHA256: secret)) == Self.image(key.event.app, key.event.detail)
                    && found.createdAt == key.event.at && found.revokedAt == key.revokedAt
            }
        }
        try compareEntitlements(&comparison)
        try comparison.compareOwners()
        return comparison.findings
    }

    private func compareEntitlements(_ comparison: inout BooksComparison) throws(LedgerStorageError) {
        let reader = LedgerReader(connection: comparison.connection, now: Timestamp(millisecondsSince1970: 0))
        var expected: [Image: String] = [:]
        var granted: Set<Image> = []
        var kept: Set<Image> = []
        for purchase in purchases.values {
            let event = purchase.event
            let key = Self.image(event.app, purchase.customerID, event.productID, event.environment)
            granted.insert(key)
            if !purchase.isWhole || !purchase.isOfBalance { kept.insert(key) }
            guard purchase.withdrawal == nil else { continue }
            expected[key] = "\(purchase.customerID ?? "") \(event.productID ?? "")"
        }
        try comparison.compare(
            "entitlements", Entitlement.columns, key: ["app", "customer_id", "product_id", "environment"],
            name: [1, 2],
            expected: expected
        ) { row, key throws(LedgerStorageError) in
            let found = try Entitlement(row)
            if found.productKind == .consumable {
                return balances[key].map { balance in
                    found.balance == balance.count && found.transactionID.isSame(as: balance.transactionID)
                        && found.recordedState == .active && found.until == nil
                }
            }
            // A balance is left where the operator called the product a consumable before.
            guard balances[key] == nil || kept.contains(key),
                found.balance == 0 || found.balance == balances[key]?.count
            else { return false }
            guard let ground = try reader.ground(of: found.key) else {
                // Whoever had something once keeps the row, in a state that grants nothing.
                return found.recordedState != .active ? true : granted.contains(key) ? false : nil
            }
            return found.recordedState == .active && found.until == ground.until
                && found.since == ground.since && found.transactionID.isSame(as: ground.source.transactionID)
                && found.productKind == ground.source.productKind
        }
    }
}
