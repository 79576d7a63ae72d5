/// The tenth schema: the people who sign in to the console, and what it counts by hour.
enum SchemaVersion10 {
    static let migration = LedgerMigration(
        number: 10, title: "Operators of the console, and counts by hour",
        statements: [
            // A link sets the password once. `password` is a hash in the form of the console.
            .definition(
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
                """),
            .definition(
                """
                CREATE TABLE operator_sessions (
                    session_sha256 BLOB NOT NULL,
                    name TEXT NOT NULL,
                    created_at INTEGER NOT NULL,
                    used_at INTEGER NOT NULL,
                    address TEXT NOT NULL,
                    PRIMARY KEY (session_sha256)) WITHOUT ROWID
                """),
            .definition("CREATE INDEX operator_sessions_by_name ON operator_sessions (name, used_at)"),
            .definition(
                """
                CREATE TABLE operator_log (
                    at INTEGER NOT NULL,
                    log_id BLOB NOT NULL,
                    name TEXT NOT NULL,
                    act TEXT NOT NULL,
                    by_name TEXT,
                    address TEXT,
                    PRIMARY KEY (at, log_id)) WITHOUT ROWID
                """),
        ] + counts)
}
