/// The tables. Times are milliseconds since 1970, truth values 0 or 1, hashes hexadecimal.
enum LedgerSchema {
    static let first = LedgerMigration(
        number: 1, title: "Orders, purchases, entitlements, keys and the record",
        statements: orders + purchases + entitlements + keys + record)

    private static let orders: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE orders (
                order_id TEXT PRIMARY KEY,
                app TEXT NOT NULL,
                customer_id TEXT NOT NULL,
                product_id TEXT NOT NULL,
                quantity BIGINT NOT NULL,
                metadata TEXT,
                app_account_token TEXT NOT NULL UNIQUE,
                status TEXT NOT NULL,
                created_at BIGINT NOT NULL,
                expires_at BIGINT NOT NULL,
                paid_at BIGINT,
                fulfilled_at BIGINT,
                closed_at BIGINT,
                environment TEXT,
                transaction_id TEXT)
            """),
        .definition("CREATE INDEX orders_by_customer ON orders (app, customer_id, created_at, order_id)"),
        .definition("CREATE INDEX orders_by_status ON orders (app, status, created_at, order_id)"),
    ]

    /// The unique keys stand behind the decision: whatever races, a transaction is granted once and an order paid once.
    private static let purchases: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE purchases (
                app TEXT NOT NULL,
                environment TEXT NOT NULL,
                transaction_id TEXT NOT NULL,
                original_transaction_id TEXT NOT NULL,
                product_id TEXT NOT NULL,
                product_type TEXT NOT NULL,
                quantity BIGINT NOT NULL,
                customer_id TEXT NOT NULL,
                order_id TEXT UNIQUE,
                kind TEXT NOT NULL,
                state TEXT NOT NULL,
                purchased_at BIGINT NOT NULL,
                expires_at BIGINT,
                duration BIGINT,
                withdrawn_at BIGINT,
                recorded_at BIGINT NOT NULL,
                submission_id TEXT NOT NULL,
                PRIMARY KEY (app, environment, transaction_id))
            """),
        .definition(
            "CREATE INDEX purchases_by_original ON purchases (app, environment, original_transaction_id, expires_at)"),
        .definition(
            "CREATE INDEX purchases_by_customer ON purchases (app, customer_id, product_id, environment, purchased_at)"),
        .definition(
            """
            CREATE TABLE original_purchases (
                app TEXT NOT NULL,
                environment TEXT NOT NULL,
                original_transaction_id TEXT NOT NULL,
                customer_id TEXT NOT NULL,
                PRIMARY KEY (app, environment, original_transaction_id))
            """),
    ]

    private static let entitlements: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE entitlements (
                app TEXT NOT NULL,
                customer_id TEXT NOT NULL,
                product_id TEXT NOT NULL,
                environment TEXT NOT NULL,
                product_type TEXT NOT NULL,
                state TEXT NOT NULL,
                balance BIGINT NOT NULL CHECK (balance >= 0),
                since BIGINT NOT NULL,
                until BIGINT,
                transaction_id TEXT NOT NULL,
                reason TEXT NOT NULL,
                updated_at BIGINT NOT NULL,
                PRIMARY KEY (app, customer_id, product_id, environment))
            """),
        .definition(
            """
            CREATE TABLE consumptions (
                app TEXT NOT NULL,
                customer_id TEXT NOT NULL,
                consumption_id TEXT NOT NULL,
                product_id TEXT NOT NULL,
                environment TEXT NOT NULL,
                quantity BIGINT NOT NULL CHECK (quantity > 0),
                balance BIGINT NOT NULL,
                consumed_at BIGINT NOT NULL,
                PRIMARY KEY (app, customer_id, consumption_id))
            """),
    ]

    private static let keys: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE api_keys (
                key_id TEXT PRIMARY KEY,
                app TEXT NOT NULL,
                name TEXT NOT NULL,
                scopes TEXT NOT NULL,
                secret_sha256 TEXT NOT NULL,
                created_at BIGINT NOT NULL,
                revoked_at BIGINT)
            """),
        .definition(
            """
            CREATE TABLE idempotency_keys (
                scope TEXT NOT NULL,
                idempotency_key TEXT NOT NULL,
                fingerprint TEXT NOT NULL,
                status BIGINT NOT NULL,
                content_type TEXT NOT NULL,
                body BLOB NOT NULL,
                created_at BIGINT NOT NULL,
                PRIMARY KEY (scope, idempotency_key))
            """),
        .definition("CREATE INDEX idempotency_keys_by_time ON idempotency_keys (created_at)"),
        .definition("CREATE TABLE readiness (name TEXT PRIMARY KEY, content BLOB NOT NULL)"),
    ]

    private static let record: [LedgerMigration.Statement] =
        [
            .definition(
                """
                CREATE TABLE evidence (
                    sha256 TEXT PRIMARY KEY, size BIGINT NOT NULL, compression TEXT NOT NULL, content BLOB NOT NULL)
                """),
            .appendOnly(table: "evidence"),
            .definition(definition(of: SubmissionRecord.chain)),
            .definition("CREATE UNIQUE INDEX submissions_by_id ON submissions (submission_id)"),
            .definition("CREATE INDEX submissions_by_customer ON submissions (app, customer_id, sequence)"),
            .definition("CREATE INDEX submissions_by_order ON submissions (app, order_id, sequence)"),
            .definition("CREATE INDEX submissions_by_transaction ON submissions (app, transaction_id, sequence)"),
            .definition("CREATE INDEX submissions_by_code ON submissions (app, code, sequence)"),
            .definition("CREATE INDEX submissions_by_time ON submissions (app, received_at, sequence)"),
            .appendOnly(table: "submissions"),
            .definition(definition(of: LedgerEvent.chain)),
            .definition("CREATE INDEX events_by_customer ON events (app, customer_id, sequence)"),
            .appendOnly(table: "events"),
            .definition("CREATE TABLE chain_heads (name TEXT PRIMARY KEY, count BIGINT NOT NULL, hash TEXT NOT NULL)"),
        ]
        + [SubmissionRecord.chain, LedgerEvent.chain].map { chain in
            .sql(
                "INSERT INTO chain_heads (name, count, hash) VALUES (?1, 0, ?2)",
                [.text(chain.name), .text(chain.origin)])
        }

    private static func definition(of chain: HashChain) -> String {
        let columns = chain.columns.map { "\($0.name) \($0.type)" }.joined(separator: ", ")
        return "CREATE TABLE \(chain.name) (sequence BIGINT PRIMARY KEY, \(columns), hash TEXT NOT NULL)"
    }
}
