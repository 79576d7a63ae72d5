/// What is asked of the App Store and told by it, and what is delivered to webhooks.
extension LedgerTables {
    /// The claims that are checked with the App Store. A row is written with its claim and stays. `answer_entry` is the
    /// App Store's answer, and `decision_entry` the outcome of a claim that waited for it.
    static let claims: [LedgerMigration.Statement] = [
        """
        CREATE TABLE app_store_claims (
            entry_key INTEGER NOT NULL,
            app_key INTEGER NOT NULL,
            customer_key INTEGER NOT NULL,
            evidence_key INTEGER NOT NULL,
            waits INTEGER NOT NULL,
            received_at INTEGER NOT NULL,
            answer_entry INTEGER,
            decision_entry INTEGER,
            PRIMARY KEY (entry_key)) WITHOUT ROWID
        """,
        "CREATE INDEX app_store_claims_open ON app_store_claims (entry_key) WHERE answer_entry IS NULL",
        // An equal claim finds the one that waits, or its decision.
        "CREATE INDEX app_store_claims_by_evidence ON app_store_claims (evidence_key, customer_key)",
        "CREATE INDEX app_store_claims_by_customer ON app_store_claims (customer_key)",
    ]

    static let work: [LedgerMigration.Statement] = [
        // A row for each open claim, refund request and extension, whose subject is their entry, and for each
        // notification history, subscription and account token, whose subject is a bundle id or an original transaction
        // id; `progress` is where the work continues. While `next_at` has a value, something is left to be done.
        // `scheduled` counts how often it was scheduled, so that work that is done meanwhile does not end what was
        // scheduled later.
        """
        CREATE TABLE work (
            kind TEXT NOT NULL,
            app_key INTEGER NOT NULL,
            environment INTEGER NOT NULL,
            subject TEXT NOT NULL,
            progress TEXT,
            scheduled INTEGER NOT NULL,
            attempts INTEGER NOT NULL,
            since INTEGER NOT NULL,
            next_at INTEGER,
            leased_until INTEGER,
            PRIMARY KEY (kind, app_key, environment, subject)) WITHOUT ROWID
        """,
        """
        CREATE INDEX work_due ON work (kind, next_at, app_key, environment, subject) WHERE next_at IS NOT NULL
        """,
    ]

    /// Each notification once, with the entry of its first delivery. The lists by type and of all read the newest
    /// entries.
    static let notifications: [LedgerMigration.Statement] = [
        """
        CREATE TABLE notifications (
            app_key INTEGER NOT NULL,
            environment INTEGER NOT NULL,
            notification_id TEXT NOT NULL,
            entry_key INTEGER NOT NULL,
            type TEXT,
            subtype TEXT,
            PRIMARY KEY (app_key, environment, notification_id)) WITHOUT ROWID
        """,
        "CREATE INDEX notifications_by_entry ON notifications (app_key, entry_key)",
        // The newest notification of an app and environment.
        "CREATE INDEX notifications_by_environment ON notifications (app_key, environment, entry_key)",
        "CREATE INDEX notifications_by_type ON notifications (app_key, type, entry_key)",
        // The request body of a notification, where it is not `{"signedPayload":"…"}` around the evidence.
        """
        CREATE TABLE notification_bodies (
            evidence_key INTEGER NOT NULL,
            body BLOB NOT NULL,
            PRIMARY KEY (evidence_key)) WITHOUT ROWID
        """,
    ]

    static let refunds: [LedgerMigration.Statement] = [
        """
        CREATE TABLE consumption_consents (
            customer_key INTEGER NOT NULL,
            is_given INTEGER NOT NULL,
            stated_at INTEGER NOT NULL,
            entry_key INTEGER NOT NULL,
            PRIMARY KEY (customer_key)) WITHOUT ROWID
        """,
        """
        CREATE TABLE consumption_requests (
            entry_key INTEGER NOT NULL,
            app_key INTEGER NOT NULL,
            transaction_key INTEGER NOT NULL,
            asked_at INTEGER NOT NULL,
            deadline INTEGER NOT NULL,
            reason TEXT,
            state TEXT NOT NULL,
            answer_entry INTEGER,
            closed_by TEXT,
            closed_at INTEGER,
            asked INTEGER NOT NULL,
            PRIMARY KEY (entry_key)) WITHOUT ROWID
        """,
        "CREATE INDEX consumption_requests_by_transaction ON consumption_requests (transaction_key, asked_at, entry_key)",
        "CREATE INDEX consumption_requests_by_app ON consumption_requests (app_key, entry_key)",
        "CREATE INDEX consumption_requests_open ON consumption_requests (deadline, entry_key) WHERE state = 'open'",
    ]

    static let extensions: [LedgerMigration.Statement] = [
        """
        CREATE TABLE extension_requests (
            entry_key INTEGER NOT NULL,
            app_key INTEGER NOT NULL,
            original_key INTEGER NOT NULL,
            request_id TEXT NOT NULL,
            days INTEGER NOT NULL,
            reason TEXT NOT NULL,
            requested_at INTEGER NOT NULL,
            state TEXT NOT NULL,
            answer_entry INTEGER,
            PRIMARY KEY (entry_key)) WITHOUT ROWID
        """,
        "CREATE UNIQUE INDEX extension_requests_by_request ON extension_requests (app_key, request_id)",
        "CREATE INDEX extension_requests_by_original ON extension_requests (original_key, entry_key)",
        "CREATE INDEX extension_requests_open ON extension_requests (entry_key) WHERE state = 'open'",
    ]

    static let external: [LedgerMigration.Statement] = [
        """
        CREATE TABLE external_purchases (
            entry_key INTEGER NOT NULL,
            app_key INTEGER NOT NULL,
            environment INTEGER NOT NULL,
            external_id TEXT NOT NULL,
            bundle_id TEXT,
            token_type TEXT,
            token_created_at INTEGER,
            expires_at INTEGER,
            is_stated INTEGER NOT NULL,
            is_duplicate INTEGER NOT NULL,
            token_due_at INTEGER,
            items_since INTEGER,
            is_overdue INTEGER NOT NULL,
            status TEXT,
            request_id TEXT,
            refused_request TEXT,
            is_refused INTEGER NOT NULL,
            answer_entry INTEGER,
            PRIMARY KEY (entry_key)) WITHOUT ROWID
        """,
        "CREATE UNIQUE INDEX external_purchases_by_id ON external_purchases (app_key, external_id)",
        "CREATE INDEX external_purchases_by_app ON external_purchases (app_key, entry_key)",
        """
        CREATE TABLE external_line_items (
            app_key INTEGER NOT NULL,
            line_item_id TEXT NOT NULL,
            entry_key INTEGER NOT NULL,
            content TEXT NOT NULL,
            reported TEXT,
            waiting INTEGER,
            PRIMARY KEY (app_key, line_item_id)) WITHOUT ROWID
        """,
        "CREATE INDEX external_line_items_by_token ON external_line_items (entry_key, line_item_id)",
        """
        CREATE INDEX external_line_items_waiting ON external_line_items (entry_key, waiting) WHERE waiting IS NOT NULL
        """,
    ]

    static let offers: [LedgerMigration.Statement] = [
        """
        CREATE TABLE offer_signatures (
            entry_key INTEGER NOT NULL,
            customer_key INTEGER NOT NULL,
            offer_id TEXT NOT NULL,
            kind TEXT NOT NULL,
            signed_at INTEGER NOT NULL,
            PRIMARY KEY (entry_key)) WITHOUT ROWID
        """,
        "CREATE INDEX offer_signatures_by_customer ON offer_signatures (customer_key, offer_id, signed_at, entry_key)",
    ]

    /// The app receipts of each download of the app.
    static let appReceipts: [LedgerMigration.Statement] = [
        // Finds the newest receipt that was signed for a download. `part_key` is the shared part of its stored
        // form, or 0.
        """
        CREATE TABLE app_receipts (
            app_key INTEGER NOT NULL,
            environment INTEGER NOT NULL,
            download_id INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            evidence_key INTEGER NOT NULL,
            part_key INTEGER NOT NULL,
            originals BLOB NOT NULL,
            PRIMARY KEY (app_key, environment, download_id, created_at, evidence_key)) WITHOUT ROWID
        """,
        "CREATE INDEX app_receipts_by_evidence ON app_receipts (evidence_key)",
    ]

    /// A webhook has a cursor: every event up to it was delivered, or has a row in `webhook_deliveries`. So a purchase
    /// writes nothing for webhooks, and a successful first delivery leaves no row.
    ///
    /// A webhook gets the events of the app (environment 0), or the notifications of an environment. So one URL can get
    /// the notifications of each environment. For notifications, `event_cursor` and `webhook_deliveries.event_key` are
    /// entries.
    static let webhooks: [LedgerMigration.Statement] = [
        """
        CREATE TABLE webhooks (
            webhook_key INTEGER PRIMARY KEY,
            app_key INTEGER NOT NULL,
            environment INTEGER NOT NULL,
            url TEXT NOT NULL,
            event_cursor INTEGER NOT NULL,
            revision INTEGER NOT NULL,
            lease_owner BLOB,
            lease_until INTEGER,
            disabled_at INTEGER,
            disabled_reason TEXT,
            UNIQUE (app_key, environment, url))
        """,
        // `lane` is the customer, or 0. Only the first row of a lane has a time for its next attempt.
        """
        CREATE TABLE webhook_deliveries (
            webhook_key INTEGER NOT NULL,
            event_key INTEGER NOT NULL,
            lane INTEGER NOT NULL,
            state TEXT NOT NULL,
            attempts INTEGER NOT NULL,
            first_at INTEGER,
            next_at INTEGER,
            last_error TEXT,
            PRIMARY KEY (webhook_key, event_key)) WITHOUT ROWID
        """,
        "CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_key, next_at) WHERE next_at IS NOT NULL",
        """
        CREATE INDEX webhook_deliveries_by_lane ON webhook_deliveries (webhook_key, lane, event_key)
        WHERE state IN ('waiting', 'retry', 'gap')
        """,
    ]
}
