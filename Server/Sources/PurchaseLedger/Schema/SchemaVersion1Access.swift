import PurchaseVerification

/// Keys, repeated requests and readiness.
enum SchemaVersion1Access {
    static let statements: [LedgerMigration.Statement] = access

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
