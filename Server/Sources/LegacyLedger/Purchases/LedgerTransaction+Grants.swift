import PurchaseVerification

extension LedgerTransaction {
    /// Records a purchase and grants what it buys.
    func grant(
        _ acceptance: Acceptance, submissionID: String, app: RegisteredApp
    ) throws(LedgerStorageError) -> RecordedPurchase {
        let proven = acceptance.purchase
        // A restored copy is dated by its restoring; what it stands for began with the first purchase.
        let isPeriod = acceptance.product.kind == .autoRenewable
        let purchase = RecordedPurchase(
            app: app.id, environment: acceptance.environment, transactionID: proven.transactionID,
            originalTransactionID: proven.originalTransactionID, productID: proven.productID,
            productKind: acceptance.product.kind, quantity: proven.quantity, customerID: acceptance.owner,
            orderID: acceptance.orderID, kind: acceptance.kind, state: .active,
            purchasedAt: isPeriod ? proven.purchaseDate : proven.originalPurchaseDate ?? proven.purchaseDate,
            expiresAt: isPeriod ? proven.expiresDate : nil,
            webOrderLineItemID: isPeriod ? proven.webOrderLineItemID : nil,
            duration: acceptance.product.kind == .nonRenewing ? acceptance.product.duration : nil,
            withdrawnAt: nil, recordedAt: now, submissionID: submissionID)
        if let previous = acceptance.movedFrom {
            try move(purchase, from: previous, submissionID: submissionID)
        } else {
            try connection.execute(
                """
                INSERT INTO original_purchases (app, environment, original_transaction_id, customer_id)
                VALUES (?1, ?2, ?3, ?4) ON CONFLICT (app, environment, original_transaction_id) DO NOTHING
                """,
                [
                    .text(app.id), .text(purchase.environment.name), .text(purchase.originalTransactionID),
                    .text(acceptance.owner),
                ])
        }
        try insert(purchase)
        try record(event(.purchaseGranted, purchase, detail: purchase.terms, submissionID: submissionID))
        if let orderID = purchase.orderID { try pay(orderID, with: purchase, submissionID: submissionID) }
        if purchase.productKind == .consumable {
            try addToBalance(purchase)
        } else {
            try renewEntitlement(
                EntitlementKey(purchase), reason: acceptance.movedFrom == nil ? purchase.kind.rawValue : "moved",
                isGranting: true)
        }
        return purchase
    }

    /// Makes a period longer, as the App Store did.
    func extend(
        _ purchase: RecordedPurchase, until end: Timestamp, submissionID: String
    ) throws(LedgerStorageError) -> RecordedPurchase {
        var extended = purchase
        extended.expiresAt = end
        try connection.execute(
            "UPDATE purchases SET expires_at = ?1 WHERE app = ?2 AND environment = ?3 AND transaction_id = ?4",
            [.time(end), .text(purchase.app), .text(purchase.environment.name), .text(purchase.transactionID)])
        try record(event(.purchaseExtended, extended, detail: extended.terms, submissionID: submissionID))
        try renewEntitlement(EntitlementKey(extended), reason: "extended")
        return extended
    }

    /// Gives everything of an original transaction to another customer.
    private func move(
        _ purchase: RecordedPurchase, from previous: String, submissionID: String
    ) throws(LedgerStorageError) {
        let family: [LedgerValue] = [
            .text(purchase.app), .text(purchase.environment.name), .text(purchase.originalTransactionID),
        ]
        let condition = "app = ?1 AND environment = ?2 AND original_transaction_id = ?3"
        for table in ["original_purchases", "purchases"] {
            try connection.execute(
                "UPDATE \(table) SET customer_id = ?4 WHERE \(condition)", family + [.text(purchase.customerID)])
        }
        var products: [String] = []
        // In the order of the index that finds them.
        for row in try connection.rows(
            "SELECT \(RecordedPurchase.columns) FROM purchases WHERE \(condition) ORDER BY expires_at, transaction_id",
            family)
        {
            let moved = try RecordedPurchase(row)
            try record(event(.purchaseMoved, moved, detail: "from \(previous)", submissionID: submissionID))
            if !products.contains(where: moved.productID.isSame) { products.append(moved.productID) }
        }
        for productID in products {
            var key = EntitlementKey(purchase)
            key.productID = productID
            try renewEntitlement(key, reason: "moved")
            key.customerID = previous
            try renewEntitlement(key, reason: "moved")
        }
    }

    private func insert(_ purchase: RecordedPurchase) throws(LedgerStorageError) {
        let placeholders = (1...purchase.values.count).map { "?\($0)" }.joined(separator: ", ")
        try connection.execute(
            "INSERT INTO purchases (\(RecordedPurchase.columns)) VALUES (\(placeholders))", purchase.values)
    }

    func event(
        _ kind: LedgerEvent.Kind, _ purchase: RecordedPurchase, detail: String, submissionID: String?
    ) -> LedgerEvent {
        LedgerEvent(
            kind, at: now, app: purchase.app, customerID: purchase.customerID, orderID: purchase.orderID,
            environment: purchase.environment.name, transactionID: purchase.transactionID,
            productID: purchase.productID, quantity: purchase.quantity, detail: detail, submissionID: submissionID)
    }
}
