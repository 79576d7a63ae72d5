import PurchaseVerification

/// Facts, owners, entitlements and orders.
enum SchemaVersion1Purchases {
    static let statements: [LedgerMigration.Statement] = facts + entitlements + orders

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
        // Renewal info names no app and no date, so its key is the number alone, and it can arrive before its
        // subscription.
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
        // The passes of a customer are chained, so each is computed from all of them.
        .definition(
            """
            CREATE INDEX transactions_by_pass ON transactions (owner_key, product_key, environment)
            WHERE kind = 'non_renewing' AND owner_key IS NOT NULL
            """),
        // Finds the purchases with a token that becomes known later. A subscription has one token for many periods.
        .definition("CREATE INDEX transactions_by_token ON transactions (token, original_key) WHERE token IS NOT NULL"),
        // Facts of products that the settings do not include, or include with another kind.
        .definition(
            "CREATE INDEX transactions_without_kind ON transactions (product_key, original_key) WHERE kind IS NULL"),
        // Erased purchases have no product. The audit skips rows that cannot be computed without them.
        .definition("CREATE INDEX transactions_erased ON transactions (original_key) WHERE product_key = 0"),
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

    /// `ground` is the basis of the access: an original for a subscription or a non-consumable, 0 for the balance of a
    /// consumable and for the chain of passes, and the negative key of a manual grant. So a purchase changes only its
    /// own row, and a customer's entitlements are one range of the primary key.
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
                reason TEXT,
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
                purchased_at INTEGER NOT NULL,
                reason TEXT NOT NULL)
            """),
        // An empty balance is explained by the newest lot.
        .definition(
            """
            CREATE INDEX lots_empty ON lots (customer_key, product_key, environment, purchased_at, reason)
            WHERE available = 0
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
        // Enforces that a transaction pays only one order.
        .definition("CREATE UNIQUE INDEX orders_by_payment ON orders (paid_by) WHERE paid_by IS NOT NULL"),
        .definition("CREATE INDEX orders_by_app ON orders (app_key, order_key)"),
        .definition("CREATE INDEX orders_by_customer ON orders (customer_key, order_key)"),
        // The index includes the expiry, so that lists of open and of expired orders do not read each other's rows.
        .definition("CREATE INDEX orders_by_status ON orders (app_key, status, expires_at, order_key)"),
        .definition(
            """
            CREATE INDEX orders_open ON orders (customer_key, product_key, expires_at, order_key)
            WHERE status = 'created'
            """),
    ]
}
