import PurchaseVerification

/// The first schema: the journal, what is derived from it, and the settings in force.
///
/// Times are milliseconds since 1970. Keys inside the database are integers; ids that leave it are 16 bytes, hashes 32 bytes.
enum SchemaVersion1 {
    static let migration = LedgerMigration(
        number: 1, title: "The journal, facts, owners, entitlements, orders and keys",
        statements: journal + evidence + registry + customers + facts + entitlements + orders + access)

    /// `entry_id` is unique and in the order of time. The other columns after `leaf` are derived from the leaf and the details,
    /// and the audit derives them again.
    private static let journal: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE journal (
                entry_key INTEGER PRIMARY KEY,
                entry_id BLOB NOT NULL UNIQUE,
                leaf BLOB NOT NULL,
                salt BLOB,
                details BLOB,
                app_key INTEGER NOT NULL,
                customer_key INTEGER,
                order_key INTEGER,
                transaction_key INTEGER,
                evidence_key INTEGER,
                kind INTEGER NOT NULL,
                code TEXT NOT NULL,
                at INTEGER NOT NULL)
            """),
        .definition("CREATE INDEX journal_by_time ON journal (app_key, at, entry_key)"),
        .definition(
            "CREATE INDEX journal_by_customer ON journal (customer_key, at, entry_key) WHERE customer_key IS NOT NULL"),
        .definition("CREATE INDEX journal_by_order ON journal (order_key, at, entry_key) WHERE order_key IS NOT NULL"),
        .definition(
            """
            CREATE INDEX journal_by_transaction ON journal (transaction_key, at, entry_key)
            WHERE transaction_key IS NOT NULL
            """),
        // Most entries are accepted claims, or have no code; an index of these would cost each purchase and narrow nothing.
        .definition(
            """
            CREATE INDEX journal_by_code ON journal (app_key, code, at, entry_key)
            WHERE code <> 'accepted' AND code <> ''
            """),
        .appendOnly(
            AppendOnlyRule(
                table: "journal",
                columns: [
                    "entry_key", "entry_id", "leaf", "app_key", "customer_key", "order_key", "transaction_key",
                    "evidence_key", "kind", "code", "at",
                ],
                keys: ["entry_key", "entry_id"], erasable: ["salt", "details"])),
        .definition("CREATE TABLE log_pending (entry_key INTEGER PRIMARY KEY)"),
        .definition(
            """
            CREATE TABLE events (
                event_key INTEGER PRIMARY KEY,
                app_key INTEGER NOT NULL,
                entry_key INTEGER NOT NULL,
                type TEXT NOT NULL,
                customer_key INTEGER,
                former_key INTEGER,
                environment INTEGER,
                product_key INTEGER,
                transaction_key INTEGER,
                original_key INTEGER,
                order_key INTEGER,
                figures BLOB NOT NULL)
            """),
        .definition("CREATE INDEX events_by_app ON events (app_key, event_key)"),
    ]

    private static let evidence: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE evidence (
                evidence_key INTEGER PRIMARY KEY,
                sha256 BLOB NOT NULL UNIQUE,
                size INTEGER NOT NULL,
                content BLOB)
            """),
        .appendOnly(
            AppendOnlyRule(
                table: "evidence", columns: ["evidence_key", "sha256", "size"], keys: ["evidence_key", "sha256"],
                erasable: [], refillable: ["content"], ignoresDuplicates: true)),
        // Certificates that many pieces of evidence have in common. Their content names no customer.
        .definition(
            """
            CREATE TABLE evidence_parts (
                part_key INTEGER PRIMARY KEY, sha256 BLOB NOT NULL UNIQUE, content BLOB NOT NULL)
            """),
        .appendOnly(
            AppendOnlyRule(
                table: "evidence_parts", columns: ["part_key", "sha256", "content"], keys: ["part_key", "sha256"],
                erasable: [])),
        // Counts against the daily budget; `key_id` is empty for a whole app.
        .definition(
            """
            CREATE TABLE unverified_evidence (
                app_key INTEGER NOT NULL, key_id TEXT NOT NULL, day INTEGER NOT NULL, bytes INTEGER NOT NULL,
                PRIMARY KEY (app_key, key_id, day)) WITHOUT ROWID
            """),
        // Verified evidence of a bundle that no app has, or without an environment: observed when that changes.
        .definition(
            """
            CREATE TABLE held_evidence (
                evidence_key INTEGER NOT NULL, entry_key INTEGER NOT NULL, bundle_id TEXT NOT NULL,
                PRIMARY KEY (bundle_id, evidence_key)) WITHOUT ROWID
            """),
    ]

    private static let registry: [LedgerMigration.Statement] = [
        .definition("CREATE TABLE environments (environment_key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)"),
        .sql("INSERT INTO environments (environment_key, name) VALUES (1, 'Production'), (2, 'Sandbox'), (3, 'Xcode')"),
        .definition("CREATE TABLE apps (app_key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)"),
        .definition(
            "CREATE TABLE bundles (bundle_id TEXT PRIMARY KEY, app_key INTEGER NOT NULL, entry_key INTEGER NOT NULL)"),
        .definition(
            """
            CREATE TABLE products (
                product_key INTEGER PRIMARY KEY,
                app_key INTEGER NOT NULL,
                product_id TEXT NOT NULL,
                first_known_at INTEGER NOT NULL,
                UNIQUE (app_key, product_id))
            """),
        .definition(
            """
            CREATE TABLE settings_history (
                settings_key INTEGER PRIMARY KEY,
                app_key INTEGER NOT NULL,
                sha256 BLOB NOT NULL,
                body BLOB NOT NULL,
                entry_key INTEGER NOT NULL)
            """),
        .definition("CREATE INDEX settings_history_by_app ON settings_history (app_key, settings_key)"),
        .definition("CREATE TABLE rules (version INTEGER PRIMARY KEY, entry_key INTEGER NOT NULL)"),
    ]

    private static let customers: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE customers (
                customer_key INTEGER PRIMARY KEY,
                app_key INTEGER NOT NULL,
                reference BLOB NOT NULL,
                name TEXT,
                merged_into INTEGER,
                merge_entry INTEGER,
                token BLOB,
                UNIQUE (app_key, name))
            """),
        .definition(
            """
            CREATE TABLE account_tokens (
                app_key INTEGER NOT NULL, token BLOB NOT NULL, customer_key INTEGER NOT NULL,
                entry_key INTEGER NOT NULL,
                PRIMARY KEY (app_key, token)) WITHOUT ROWID
            """),
        .definition(
            """
            CREATE TABLE testers (
                app_key INTEGER NOT NULL, customer_key INTEGER NOT NULL, entry_key INTEGER NOT NULL,
                PRIMARY KEY (app_key, customer_key)) WITHOUT ROWID
            """),
        .definition(
            """
            CREATE TABLE hand_grants (
                grant_key INTEGER PRIMARY KEY,
                grant_id BLOB NOT NULL UNIQUE,
                app_key INTEGER NOT NULL,
                customer_key INTEGER NOT NULL,
                product_key INTEGER NOT NULL,
                environment INTEGER NOT NULL,
                kind TEXT NOT NULL,
                quantity INTEGER NOT NULL,
                revoked_original INTEGER,
                revoked_shared INTEGER NOT NULL,
                revoked_grant INTEGER,
                starts_at INTEGER NOT NULL,
                ends_at INTEGER,
                lifted_at INTEGER,
                entry_key INTEGER NOT NULL)
            """),
        .definition("CREATE INDEX hand_grants_by_customer ON hand_grants (customer_key, grant_key)"),
        .definition(
            """
            CREATE INDEX hand_grants_by_original ON hand_grants (revoked_original)
            WHERE revoked_original IS NOT NULL
            """),
        .definition("CREATE INDEX hand_grants_by_grant ON hand_grants (revoked_grant) WHERE revoked_grant IS NOT NULL"),
    ]

    private static let facts: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE originals (
                original_key INTEGER PRIMARY KEY,
                environment INTEGER NOT NULL,
                original_id TEXT NOT NULL,
                xcode_second INTEGER NOT NULL,
                app_key INTEGER NOT NULL,
                UNIQUE (environment, original_id, xcode_second))
            """),
        // Renewal info names no app and no date, so its key is the number alone, and it can arrive before its subscription.
        .definition(
            """
            CREATE TABLE renewals (
                environment INTEGER NOT NULL,
                original_id TEXT NOT NULL,
                facts BLOB NOT NULL,
                evidence_key INTEGER NOT NULL,
                PRIMARY KEY (environment, original_id)) WITHOUT ROWID
            """),
        .definition(
            """
            CREATE TABLE transactions (
                transaction_key INTEGER PRIMARY KEY,
                original_key INTEGER NOT NULL,
                environment INTEGER NOT NULL,
                transaction_id TEXT NOT NULL,
                xcode_second INTEGER NOT NULL,
                product_key INTEGER NOT NULL,
                facts BLOB NOT NULL,
                evidence_key INTEGER NOT NULL,
                known_at INTEGER NOT NULL,
                kind TEXT,
                duration TEXT,
                token BLOB,
                owner_key INTEGER,
                owner_reason TEXT,
                UNIQUE (environment, transaction_id, xcode_second))
            """),
        .definition("CREATE INDEX transactions_by_original ON transactions (original_key)"),
        .definition(
            "CREATE INDEX transactions_by_owner ON transactions (owner_key, transaction_key) WHERE owner_key IS NOT NULL"
        ),
        // The passes of a customer follow each other, so each is computed from all.
        .definition(
            """
            CREATE INDEX transactions_by_pass ON transactions (owner_key, product_key, environment)
            WHERE kind = 'non_renewing' AND owner_key IS NOT NULL
            """),
        // A token that becomes known later finds the purchases that carry it. A subscription has one token for many periods.
        .definition("CREATE INDEX transactions_by_token ON transactions (token, original_key) WHERE token IS NOT NULL"),
        // Facts of products that the settings do not know yet, or know under another kind.
        .definition(
            "CREATE INDEX transactions_without_kind ON transactions (product_key, original_key) WHERE kind IS NULL"),
        .definition(
            """
            CREATE TABLE ownership_acts (
                original_key INTEGER NOT NULL,
                entry_key INTEGER NOT NULL,
                transaction_key INTEGER NOT NULL,
                customer_key INTEGER NOT NULL,
                former_key INTEGER,
                kind TEXT NOT NULL,
                PRIMARY KEY (original_key, entry_key, transaction_key)) WITHOUT ROWID
            """),
    ]

    /// `ground` is what the access rests on: an original for a subscription or a non-consumable, 0 for the balance of a
    /// consumable and for the chain of passes, and a hand grant's key made negative. So a purchase changes its own row, whatever
    /// else the customer has, and a customer's entitlements are one range of the primary key.
    private static let entitlements: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE entitlements (
                customer_key INTEGER NOT NULL,
                product_key INTEGER NOT NULL,
                environment INTEGER NOT NULL,
                ground INTEGER NOT NULL,
                kind TEXT NOT NULL,
                balance INTEGER NOT NULL CHECK (balance >= 0),
                shortfall INTEGER NOT NULL CHECK (shortfall >= 0),
                timeline BLOB,
                PRIMARY KEY (customer_key, product_key, environment, ground)) WITHOUT ROWID
            """),
        .definition(
            """
            CREATE TABLE lots (
                ground INTEGER PRIMARY KEY,
                customer_key INTEGER NOT NULL,
                product_key INTEGER NOT NULL,
                environment INTEGER NOT NULL,
                quantity INTEGER NOT NULL,
                withdrawn INTEGER NOT NULL,
                taken INTEGER NOT NULL,
                available INTEGER NOT NULL CHECK (available >= 0),
                purchased_at INTEGER NOT NULL)
            """),
        .definition(
            """
            CREATE INDEX lots_available ON lots (customer_key, product_key, environment, purchased_at, ground)
            WHERE available > 0
            """),
        .definition(
            """
            CREATE TABLE takes (
                ground INTEGER NOT NULL, customer_key INTEGER NOT NULL, units INTEGER NOT NULL,
                PRIMARY KEY (ground, customer_key)) WITHOUT ROWID
            """),
        .definition("CREATE INDEX takes_by_customer ON takes (customer_key, ground)"),
        .definition(
            """
            CREATE TABLE consumptions (
                customer_key INTEGER NOT NULL,
                consumption_id TEXT NOT NULL,
                entry_key INTEGER NOT NULL,
                product_key INTEGER NOT NULL,
                environment INTEGER NOT NULL,
                quantity INTEGER NOT NULL,
                PRIMARY KEY (customer_key, consumption_id)) WITHOUT ROWID
            """),
    ]

    private static let orders: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE orders (
                order_key INTEGER PRIMARY KEY,
                order_id BLOB NOT NULL UNIQUE,
                app_key INTEGER NOT NULL,
                customer_key INTEGER NOT NULL,
                product_key INTEGER NOT NULL,
                quantity INTEGER NOT NULL,
                environment INTEGER,
                token BLOB NOT NULL,
                metadata TEXT,
                created_at INTEGER NOT NULL,
                expires_at INTEGER NOT NULL,
                status TEXT NOT NULL,
                paid_by INTEGER,
                paid_at INTEGER,
                fulfilled_at INTEGER,
                closed_at INTEGER)
            """),
        // Backs the rule that a transaction pays one order.
        .definition("CREATE UNIQUE INDEX orders_by_payment ON orders (paid_by) WHERE paid_by IS NOT NULL"),
        .definition("CREATE INDEX orders_by_app ON orders (app_key, order_key)"),
        .definition("CREATE INDEX orders_by_customer ON orders (customer_key, order_key)"),
        // With the expiry inside, lists of open and of expired orders do not read past each other.
        .definition("CREATE INDEX orders_by_status ON orders (app_key, status, expires_at, order_key)"),
        .definition(
            """
            CREATE INDEX orders_open ON orders (customer_key, product_key, expires_at, order_key)
            WHERE status = 'created'
            """),
    ]

    private static let access: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE api_keys (
                key_id TEXT PRIMARY KEY,
                app_key INTEGER NOT NULL,
                name TEXT NOT NULL,
                scopes TEXT NOT NULL,
                secret_sha256 BLOB NOT NULL,
                created_at INTEGER NOT NULL,
                revoked_at INTEGER)
            """),
        .definition(
            """
            CREATE TABLE idempotency (
                scope BLOB PRIMARY KEY, request_sha256 BLOB NOT NULL, entry_key INTEGER NOT NULL, at INTEGER NOT NULL)
            """),
        .definition("CREATE INDEX idempotency_by_time ON idempotency (at)"),
        .definition("CREATE TABLE readiness (readiness_key INTEGER PRIMARY KEY, content BLOB NOT NULL)"),
    ]
}
