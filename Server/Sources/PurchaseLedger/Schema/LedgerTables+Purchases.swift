/// Facts, owners, entitlements, orders and seats.
extension LedgerTables {
    static let facts: [LedgerMigration.Statement] = [
        """
        CREATE TABLE originals (
            original_key INTEGER PRIMARY KEY,
            environment INTEGER NOT NULL,
            original_id TEXT NOT NULL,
            xcode_second INTEGER NOT NULL,
            app_key INTEGER NOT NULL,
            UNIQUE (environment, original_id, xcode_second))
        """,
        // Renewal info names no app and no date, so its key is the number alone, and it can arrive before its
        // subscription. It is kept for each transaction signed beside it, and once without one, and for each thing that
        // it says about the end of a period: 0 for nothing, 1 for a retry, otherwise the end of the grace period.
        """
        CREATE TABLE renewals (
            environment INTEGER NOT NULL,
            original_id TEXT NOT NULL,
            beside TEXT NOT NULL,
            concern INTEGER NOT NULL,
            facts BLOB NOT NULL,
            evidence_key INTEGER NOT NULL,
            PRIMARY KEY (environment, original_id, beside, concern)) WITHOUT ROWID
        """,
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
            app_transaction_id TEXT,
            UNIQUE (environment, transaction_id, xcode_second))
        """,
        "CREATE INDEX transactions_by_original ON transactions (original_key)",
        "CREATE INDEX transactions_by_owner ON transactions (owner_key, transaction_key) WHERE owner_key IS NOT NULL",
        // The passes of a customer are chained, so each is computed from all of them.
        """
        CREATE INDEX transactions_by_pass ON transactions (owner_key, product_key, environment)
        WHERE kind = 'non_renewing' AND owner_key IS NOT NULL
        """,
        // Finds the purchases with a token that becomes known later. A subscription has one token for many periods.
        "CREATE INDEX transactions_by_token ON transactions (token, original_key) WHERE token IS NOT NULL",
        // Facts of products that the settings do not include, or include with another kind.
        "CREATE INDEX transactions_without_kind ON transactions (product_key, original_key) WHERE kind IS NULL",
        // The download of the app that signed data states.
        """
        CREATE INDEX transactions_by_app_transaction ON transactions (environment, app_transaction_id)
        WHERE app_transaction_id IS NOT NULL
        """,
        // Purchases that nobody owns. Most have an owner, so the index has few rows.
        """
        CREATE INDEX transactions_held ON transactions (transaction_key)
        WHERE owner_key IS NULL AND product_key <> 0
        """,
        // Erased purchases have no product. The audit skips rows that cannot be computed without them.
        "CREATE INDEX transactions_erased ON transactions (original_key) WHERE product_key = 0",
        """
        CREATE TABLE ownership_acts (
            original_key INTEGER NOT NULL,
            entry_key INTEGER NOT NULL,
            transaction_key INTEGER NOT NULL,
            customer_key INTEGER NOT NULL,
            former_key INTEGER,
            kind TEXT NOT NULL,
            PRIMARY KEY (original_key, entry_key, transaction_key)) WITHOUT ROWID
        """,
    ]

    /// `ground` is the basis of the access: an original for a subscription or a non-consumable, 0 for the balance of a
    /// consumable, `EntitlementRow.passGround` for the chain of passes, and the negative key of a manual grant. So a
    /// purchase changes only its own row, and a customer's entitlements are one range of the primary key.
    static let entitlements: [LedgerMigration.Statement] = [
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
        """,
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
        """,
        // An empty balance is explained by the newest lot.
        """
        CREATE INDEX lots_empty ON lots (customer_key, product_key, environment, purchased_at, reason)
        WHERE available = 0
        """,
        """
        CREATE INDEX lots_available ON lots (customer_key, product_key, environment, purchased_at, ground)
        WHERE available > 0
        """,
        """
        CREATE TABLE takes (
            ground INTEGER NOT NULL, customer_key INTEGER NOT NULL, units INTEGER NOT NULL,
            PRIMARY KEY (ground, customer_key)) WITHOUT ROWID
        """,
        "CREATE INDEX takes_by_customer ON takes (customer_key, ground)",
        """
        CREATE TABLE consumptions (
            customer_key INTEGER NOT NULL,
            consumption_id TEXT NOT NULL,
            entry_key INTEGER NOT NULL,
            product_key INTEGER NOT NULL,
            environment INTEGER NOT NULL,
            quantity INTEGER NOT NULL,
            PRIMARY KEY (customer_key, consumption_id)) WITHOUT ROWID
        """,
    ]

    static let orders: [LedgerMigration.Statement] = [
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
            closed_at INTEGER,
            accepts_renewal INTEGER NOT NULL DEFAULT 0,
            fulfilled_units INTEGER NOT NULL DEFAULT 0)
        """,
        // Enforces that a transaction pays only one order.
        "CREATE UNIQUE INDEX orders_by_payment ON orders (paid_by) WHERE paid_by IS NOT NULL",
        "CREATE INDEX orders_by_app ON orders (app_key, order_key)",
        "CREATE INDEX orders_by_customer ON orders (customer_key, order_key)",
        // The index includes the expiry, so that lists of open and of expired orders do not read each other's rows.
        "CREATE INDEX orders_by_status ON orders (app_key, status, expires_at, order_key)",
        // With the quantity, so that a purchase reads only the open orders of its own.
        """
        CREATE INDEX orders_open ON orders (customer_key, product_key, quantity, expires_at, order_key)
        WHERE status = 'created'
        """,
    ]

    /// The claims of seats, what each subscription with claims gives its members, and the ids that are never claimed
    /// again.
    static let seats: [LedgerMigration.Statement] = [
        """
        CREATE TABLE seats (
            entry_key INTEGER NOT NULL,
            app_key INTEGER NOT NULL,
            original_key INTEGER NOT NULL,
            seat_id TEXT NOT NULL,
            customer_key INTEGER NOT NULL,
            request_id TEXT NOT NULL,
            app_transaction_id TEXT,
            claimed_at INTEGER NOT NULL,
            ended_at INTEGER,
            PRIMARY KEY (entry_key)) WITHOUT ROWID
        """,
        "CREATE UNIQUE INDEX seats_by_id ON seats (app_key, seat_id)",
        "CREATE UNIQUE INDEX seats_by_request ON seats (original_key, request_id)",
        "CREATE INDEX seats_by_customer ON seats (customer_key, original_key)",
        "CREATE INDEX seats_by_original ON seats (original_key, entry_key)",
        // A member of a seat has no transaction that states the download.
        """
        CREATE INDEX seats_by_app_transaction ON seats (app_key, app_transaction_id, entry_key)
        WHERE app_transaction_id IS NOT NULL
        """,
        "CREATE INDEX seats_in_force ON seats (original_key, entry_key) WHERE ended_at IS NULL",
        """
        CREATE TABLE seat_access (
            original_key INTEGER NOT NULL,
            product_key INTEGER NOT NULL,
            environment INTEGER NOT NULL,
            timeline BLOB NOT NULL,
            numbers BLOB NOT NULL,
            PRIMARY KEY (original_key, product_key)) WITHOUT ROWID
        """,
        """
        CREATE TABLE unclaimed_seats (
            app_key INTEGER NOT NULL,
            seat_id TEXT NOT NULL,
            entry_key INTEGER NOT NULL,
            PRIMARY KEY (app_key, seat_id)) WITHOUT ROWID
        """,
    ]
}
