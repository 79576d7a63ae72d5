/// The settings in force, customers with what operators gave them, and who may ask and act.
extension LedgerTables {
    /// The names that the other tables refer to, and the settings and rules by which the ledger decides.
    static let registry: [LedgerMigration.Statement] = [
        "CREATE TABLE environments (environment_key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
        .sql("INSERT INTO environments (environment_key, name) VALUES (1, 'Production'), (2, 'Sandbox'), (3, 'Xcode')"),
        // `moved_entry` is the entry that moved the app into a ledger of its own.
        "CREATE TABLE apps (app_key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, moved_entry INTEGER)",
        "CREATE TABLE bundles (bundle_id TEXT PRIMARY KEY, app_key INTEGER NOT NULL, entry_key INTEGER NOT NULL)",
        """
        CREATE TABLE products (
            product_key INTEGER PRIMARY KEY,
            app_key INTEGER NOT NULL,
            product_id TEXT NOT NULL,
            first_known_at INTEGER NOT NULL,
            UNIQUE (app_key, product_id))
        """,
        """
        CREATE TABLE settings_history (
            settings_key INTEGER PRIMARY KEY,
            app_key INTEGER NOT NULL,
            sha256 BLOB NOT NULL,
            body BLOB NOT NULL,
            entry_key INTEGER NOT NULL)
        """,
        "CREATE INDEX settings_history_by_app ON settings_history (app_key, settings_key)",
        "CREATE TABLE rules (version INTEGER PRIMARY KEY, entry_key INTEGER NOT NULL)",
    ]

    static let customers: [LedgerMigration.Statement] = [
        """
        CREATE TABLE customers (
            customer_key INTEGER PRIMARY KEY,
            app_key INTEGER NOT NULL,
            reference BLOB NOT NULL,
            name TEXT,
            merged_into INTEGER,
            merge_entry INTEGER,
            token BLOB,
            folded TEXT,
            guest INTEGER NOT NULL,
            UNIQUE (app_key, name))
        """,
        // Names that are their own folding are found by the names.
        "CREATE INDEX customers_by_folded ON customers (app_key, folded) WHERE folded IS NOT NULL",
        "CREATE INDEX customers_by_merge ON customers (merged_into) WHERE merged_into IS NOT NULL",
        """
        CREATE TABLE account_tokens (
            app_key INTEGER NOT NULL, token BLOB NOT NULL, customer_key INTEGER NOT NULL,
            entry_key INTEGER NOT NULL,
            PRIMARY KEY (app_key, token)) WITHOUT ROWID
        """,
        """
        CREATE TABLE testers (
            app_key INTEGER NOT NULL, customer_key INTEGER NOT NULL, entry_key INTEGER NOT NULL,
            PRIMARY KEY (app_key, customer_key)) WITHOUT ROWID
        """,
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
            entry_key INTEGER NOT NULL,
            source TEXT,
            reference TEXT)
        """,
        "CREATE INDEX hand_grants_by_customer ON hand_grants (customer_key, grant_key)",
        """
        CREATE INDEX hand_grants_by_original ON hand_grants (revoked_original)
        WHERE revoked_original IS NOT NULL
        """,
        "CREATE INDEX hand_grants_by_grant ON hand_grants (revoked_grant) WHERE revoked_grant IS NOT NULL",
        """
        CREATE INDEX hand_grants_by_reference ON hand_grants (app_key, source, reference, grant_key)
        WHERE source IS NOT NULL
        """,
        """
        CREATE TABLE stripe_events (
            entry_key INTEGER NOT NULL,
            app_key INTEGER NOT NULL,
            event_id TEXT NOT NULL,
            subscription TEXT NOT NULL,
            created INTEGER NOT NULL,
            standing INTEGER NOT NULL,
            ends INTEGER NOT NULL,
            state TEXT NOT NULL,
            missing TEXT,
            PRIMARY KEY (event_id, app_key)) WITHOUT ROWID
        """,
        "CREATE INDEX stripe_events_by_subscription ON stripe_events (app_key, subscription, state)",
        "CREATE INDEX stripe_events_held ON stripe_events (entry_key) WHERE state = 'held'",
    ]

    /// Keys, repeated requests and readiness.
    static let access: [LedgerMigration.Statement] = [
        """
        CREATE TABLE api_keys (
            key_id TEXT PRIMARY KEY,
            app_key INTEGER NOT NULL,
            name TEXT NOT NULL,
            scopes TEXT NOT NULL,
            secret_sha256 BLOB NOT NULL,
            created_at INTEGER NOT NULL,
            revoked_at INTEGER)
        """,
        """
        CREATE TABLE idempotency (
            scope BLOB PRIMARY KEY, request_sha256 BLOB NOT NULL, entry_key INTEGER NOT NULL, at INTEGER NOT NULL)
        """,
        "CREATE INDEX idempotency_by_time ON idempotency (at)",
        "CREATE TABLE readiness (readiness_key INTEGER PRIMARY KEY, content BLOB NOT NULL)",
        // When each key was last used, about once a minute. No journal entry states it.
        "CREATE TABLE key_uses (key_id TEXT PRIMARY KEY, used_at INTEGER NOT NULL)",
    ]

    /// The people who sign in to the console, and what it counts by hour.
    static let console: [LedgerMigration.Statement] = [
        // A link sets the password once. `password` is a hash in the form of the console.
        """
        CREATE TABLE operators (
            name TEXT NOT NULL,
            role TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            password TEXT,
            link_sha256 BLOB,
            link_ends_at INTEGER,
            failures INTEGER NOT NULL,
            locked_until INTEGER,
            PRIMARY KEY (name)) WITHOUT ROWID
        """,
        """
        CREATE TABLE operator_sessions (
            session_sha256 BLOB NOT NULL,
            name TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            used_at INTEGER NOT NULL,
            address TEXT NOT NULL,
            PRIMARY KEY (session_sha256)) WITHOUT ROWID
        """,
        "CREATE INDEX operator_sessions_by_name ON operator_sessions (name, used_at)",
        """
        CREATE TABLE operator_log (
            at INTEGER NOT NULL,
            log_id BLOB NOT NULL,
            name TEXT NOT NULL,
            act TEXT NOT NULL,
            by_name TEXT,
            address TEXT,
            count INTEGER NOT NULL,
            PRIMARY KEY (at, log_id)) WITHOUT ROWID
        """,
        // The hour comes first: old hours are deleted as a range.
        """
        CREATE TABLE hourly_counts (
            hour INTEGER NOT NULL,
            app TEXT NOT NULL,
            kind TEXT NOT NULL,
            code TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (hour, app, kind, code)) WITHOUT ROWID
        """,
    ]
}
