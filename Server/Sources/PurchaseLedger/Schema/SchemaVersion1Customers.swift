import PurchaseVerification

/// The settings in force, customers, and manual actions of operators.
enum SchemaVersion1Customers {
    static let statements: [LedgerMigration.Statement] = registry + customers

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
}
