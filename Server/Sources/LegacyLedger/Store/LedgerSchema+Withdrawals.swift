import PurchaseVerification

extension LedgerSchema {
    static let withdrawals = LedgerMigration(
        number: 2, title: "Withdrawals by themselves, books that follow from the events, and lists by their indexes",
        statements: [
            .definition(
                """
                CREATE TABLE withdrawals (
                    app TEXT NOT NULL,
                    environment TEXT NOT NULL,
                    transaction_id TEXT NOT NULL,
                    original_transaction_id TEXT NOT NULL,
                    product_id TEXT NOT NULL,
                    expires_at BIGINT,
                    kind TEXT NOT NULL,
                    withdrawn_at BIGINT NOT NULL,
                    recorded_at BIGINT NOT NULL,
                    submission_id TEXT NOT NULL,
                    web_order_line_item_id TEXT,
                    PRIMARY KEY (app, environment, transaction_id))
                """),
            .definition(
                "CREATE INDEX withdrawals_by_original ON withdrawals (app, environment, original_transaction_id)"),
            .definition("ALTER TABLE purchases ADD COLUMN first_expires_at BIGINT"),
            .definition("ALTER TABLE purchases ADD COLUMN web_order_line_item_id TEXT"),
            .sql("UPDATE purchases SET first_expires_at = expires_at", []),
            .definition("ALTER TABLE idempotency_keys ADD COLUMN submission_id TEXT"),
            .definition("CREATE INDEX submissions_by_app ON submissions (app, sequence)"),
            .definition("CREATE INDEX submissions_by_verdict ON submissions (app, verdict, sequence)"),
            .definition("CREATE INDEX orders_by_time ON orders (app, created_at, order_id)"),
            .definition(
                "CREATE INDEX orders_by_customer_and_status ON orders (app, customer_id, status, created_at, order_id)"),
            .appendOnlyInOrder(table: SubmissionRecord.chain.name, unique: "submission_id"),
            .appendOnlyInOrder(table: LedgerEvent.chain.name, unique: nil),
            .writeOnce(table: "evidence", key: "sha256"),
            .body { connection, now throws(LedgerStorageError) in try recordKeys(connection, now) },
            .body { connection, now throws(LedgerStorageError) in try renewPasses(connection, now) },
        ])

    /// The first version counted neither the quantity of passes nor the time that refunded ones took.
    private static func renewPasses(_ connection: any LedgerConnection, _ now: Timestamp) throws(LedgerStorageError) {
        let transaction = LedgerTransaction(connection: connection, now: now)
        for row in try connection.rows(
            "SELECT \(Entitlement.columns) FROM entitlements WHERE product_type = ?1 AND state = ?2",
            [.text(ProductKind.nonRenewing.rawValue), .text(Entitlement.RecordedState.active.rawValue)])
        {
            let entitlement = try Entitlement(row)
            try transaction.renewEntitlement(entitlement.key, reason: entitlement.reason)
        }
    }

    /// Keys that were made before events told of them get theirs now.
    private static func recordKeys(_ connection: any LedgerConnection, _ now: Timestamp) throws(LedgerStorageError) {
        for row in try connection.rows("SELECT \(APIKey.columns), secret_sha256 FROM api_keys ORDER BY key_id", []) {
            let key = try APIKey(row)
            guard case .text(let secret)? = row.values.last else { continue }
            var event = LedgerEvent(
                .keyCreated, at: key.createdAt, app: key.app, detail: key.terms(secretSHA256: secret))
            try LedgerEvent.chain.append(event.values, connection)
            guard let revokedAt = key.revokedAt else { continue }
            event = LedgerEvent(.keyRevoked, at: revokedAt, app: key.app, detail: key.id)
            try LedgerEvent.chain.append(event.values, connection)
        }
    }
}
