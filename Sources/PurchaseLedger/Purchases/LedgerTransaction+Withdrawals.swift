import PurchaseVerification

extension LedgerTransaction {
    /// Records what verified evidence proves to have been taken back, whoever brings it and whatever he claims, and takes it
    /// from those who have it. It is remembered although nobody may have it yet: older evidence must not grant it later.
    func recordWithdrawals(
        _ purchases: [ProvenPurchase], app: RegisteredApp, submissionID: String
    ) throws(LedgerStorageError) {
        for purchase in purchases {
            guard let withdrawal = purchase.withdrawal else { continue }
            let identity = purchase.identity(app)
            let inserted = try connection.execute(
                """
                INSERT INTO withdrawals
                    (app, environment, transaction_id, original_transaction_id, product_id, expires_at, kind,
                     withdrawn_at, recorded_at, submission_id)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
                ON CONFLICT (app, environment, transaction_id) DO NOTHING
                """,
                [
                    .text(app.id), .text(purchase.environment.name), .text(purchase.transactionID),
                    // A period without an end is the same as no other, so only its own transaction finds it.
                    .text(identity.isPeriodWithoutEnd ? purchase.transactionID : purchase.originalTransactionID),
                    .text(purchase.productID), .time(identity.period), .text(withdrawal.kind.rawValue),
                    .time(withdrawal.date), .time(now), .text(submissionID),
                ])
            guard inserted == 1 else { continue }
            try record(
                LedgerEvent(
                    .withdrawalRecorded, at: now, app: app.id, environment: purchase.environment.name,
                    transactionID: purchase.transactionID, productID: purchase.productID, quantity: purchase.quantity,
                    detail: withdrawal.words, submissionID: submissionID))
            for granted in try granted(purchase, app: app) where granted.state == .active {
                try withdraw(granted, withdrawal, submissionID: submissionID)
            }
        }
    }

    /// When the App Store took a purchase, or one that it is a copy of, back, as evidence showed before.
    func withdrawal(of purchase: ProvenPurchase, app: RegisteredApp) throws(LedgerStorageError) -> Timestamp? {
        let identity = purchase.identity(app)
        for environment in purchase.environment.alternatives {
            let rows = try connection.rows(
                """
                SELECT withdrawn_at FROM withdrawals WHERE app = ?1 AND environment = ?2 AND transaction_id = ?3
                UNION ALL
                SELECT withdrawn_at FROM withdrawals
                WHERE app = ?1 AND environment = ?2 AND original_transaction_id = ?4 AND product_id = ?5
                AND (?6 IS NULL OR expires_at = ?6)
                LIMIT 1
                """,
                [
                    .text(app.id), .text(environment.name), .text(purchase.transactionID),
                    .text(identity.isPeriodWithoutEnd ? purchase.transactionID : purchase.originalTransactionID),
                    .text(purchase.productID), .time(identity.period),
                ])
            if let row = rows.first {
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
        try connection.execute(
            """
            UPDATE purchases SET state = 'withdrawn', withdrawn_at = ?1
            WHERE app = ?2 AND environment = ?3 AND transaction_id = ?4 AND state = 'active'
            """,
            [
                .time(withdrawal.date), .text(purchase.app), .text(purchase.environment.name),
                .text(purchase.transactionID),
            ])
        var detail = withdrawal.words
        if purchase.productKind == .consumable {
            let shortfall = try takeFromBalance(purchase)
            if shortfall > 0 { detail += ", \(shortfall) of \(purchase.quantity) were used up already" }
        }
        try record(event(.purchaseWithdrawn, purchase, detail: detail, submissionID: submissionID))
        // Whoever upgrades gets nothing back for the order.
        if let orderID = purchase.orderID, withdrawal.kind != .upgraded {
            try refund(orderID, purchase, submissionID: submissionID)
        }
        if purchase.productKind != .consumable {
            try renewEntitlement(EntitlementKey(purchase), reason: withdrawal.kind.rawValue)
        }
    }
}

extension ProvenPurchase.Withdrawal {
    /// How and when, as events tell it.
    fileprivate var words: String { "\(kind.rawValue) \(date)" }
}
