import PurchaseVerification

extension LedgerTransaction {
    /// Records what verified evidence proves to have been taken back, whoever brings it and whatever he claims, and takes it
    /// from those who have it. It is remembered although nobody may have it yet: older evidence must not grant it later.
    func recordWithdrawals(
        _ purchases: [ProvenPurchase], app: RegisteredApp, submissionID: String
    ) throws(LedgerStorageError) {
        for purchase in purchases {
            guard let withdrawal = purchase.withdrawal, purchase.hasIdentifiers else { continue }
            let known = try recordedWithdrawal(purchase, app: app.id)
            // What was upgraded may be refunded later, and that is more. A receipt says the same of both, so it says nothing new.
            guard known == nil || (known?.kind == .upgraded && withdrawal.kind == .revoked) else { continue }
            var row = RecordedWithdrawal(purchase, withdrawal, app: app, at: now, submissionID: submissionID)
            row.expiresAt = row.expiresAt ?? known?.expiresAt
            row.webOrderLineItemID = row.webOrderLineItemID ?? known?.webOrderLineItemID
            try keep(row)
            try record(
                LedgerEvent(
                    .withdrawalRecorded, at: now, app: app.id, environment: purchase.environment.name,
                    transactionID: purchase.transactionID, productID: purchase.productID, quantity: purchase.quantity,
                    detail: row.terms, submissionID: submissionID))
            for granted in try granted(purchase, app: app) {
                try withdraw(granted, withdrawal, submissionID: submissionID)
            }
        }
    }

    private func recordedWithdrawal(
        _ purchase: ProvenPurchase, app: String
    ) throws(LedgerStorageError) -> RecordedWithdrawal? {
        let rows = try connection.rows(
            """
            SELECT \(RecordedWithdrawal.columns) FROM withdrawals
            WHERE app = ?1 AND environment = ?2 AND transaction_id = ?3
            """, [.text(app), .text(purchase.environment.name), .text(purchase.transactionID)])
        guard let row = rows.first else { return nil }
        return try RecordedWithdrawal(row)
    }

    private func keep(_ row: RecordedWithdrawal) throws(LedgerStorageError) {
        let places = (1...row.values.count).map { "?\($0)" }.joined(separator: ", ")
        try connection.execute(
            """
            INSERT INTO withdrawals (\(RecordedWithdrawal.columns)) VALUES (\(places))
            ON CONFLICT (app, environment, transaction_id) DO UPDATE SET
                kind = excluded.kind, withdrawn_at = excluded.withdrawn_at, recorded_at = excluded.recorded_at,
                submission_id = excluded.submission_id, expires_at = excluded.expires_at,
                original_transaction_id = excluded.original_transaction_id, product_id = excluded.product_id,
                web_order_line_item_id = excluded.web_order_line_item_id
            """, row.values)
    }

    /// When the App Store took a purchase, or one that it is a copy of, back, as evidence showed before.
    func withdrawal(
        of purchase: ProvenPurchase, _ identity: PurchaseIdentity, app: String
    ) throws(LedgerStorageError) -> Timestamp? {
        for environment in purchase.environment.alternatives {
            var sql = """
                SELECT withdrawn_at FROM withdrawals WHERE app = ?1 AND environment = ?2 AND transaction_id = ?3
                UNION ALL
                SELECT withdrawn_at FROM withdrawals
                WHERE app = ?1 AND environment = ?2 AND original_transaction_id = ?4 AND product_id = ?5
                """
            var parameters: [LedgerValue] = [
                .text(app), .text(environment.name), .text(purchase.transactionID),
                .text(purchase.originalTransactionID), .text(purchase.productID),
            ]
            if case .period(let lineItemID, let ends) = identity {
                // Nothing equals what is not there: no end, and no number.
                let places = (1...max(1, ends.count)).map { "?\(parameters.count + $0)" }.joined(separator: ", ")
                parameters += ends.isEmpty ? [.integer(.min)] : ends.map { .integer($0) }
                parameters.append(.text(lineItemID ?? ""))
                sql += " AND (expires_at / 1000 IN (\(places)) OR web_order_line_item_id = ?\(parameters.count))"
            }
            if let row = try connection.rows(sql, parameters).first {
                var reader = RowReader(row)
                return try reader.time()
            }
        }
        return nil
    }

    /// Takes back what the App Store took back. It is final.
    private func withdraw(
        _ purchase: RecordedPurchase, _ withdrawal: ProvenPurchase.Withdrawal, submissionID: String
    ) throws(LedgerStorageError) {
        // Whoever upgrades has the new subscription for it, so the order stays paid.
        if let orderID = purchase.orderID, withdrawal.kind != .upgraded {
            try refund(orderID, purchase, submissionID: submissionID)
        }
        guard purchase.state == .active else { return }
        try connection.execute(
            """
            UPDATE purchases SET state = 'withdrawn', withdrawn_at = ?1
            WHERE app = ?2 AND environment = ?3 AND transaction_id = ?4 AND state = 'active'
            """,
            [
                .time(withdrawal.date), .text(purchase.app), .text(purchase.environment.name),
                .text(purchase.transactionID),
            ])
        var detail = "\(withdrawal.kind.rawValue) \(withdrawal.date)"
        if purchase.productKind == .consumable {
            let shortfall = try takeFromBalance(purchase)
            if shortfall > 0 { detail += ", \(shortfall) of \(purchase.quantity) were used up already" }
        }
        try record(event(.purchaseWithdrawn, purchase, detail: detail, submissionID: submissionID))
        if purchase.productKind != .consumable {
            try renewEntitlement(EntitlementKey(purchase), reason: withdrawal.kind.rawValue)
        }
    }
}
