/// The addresses of databases: `sqlite:PATH`, `postgres://…` and `postgresql://…`.
public enum LedgerDatabases {
    /// Whether an address is that of a PostgreSQL server.
    public static func isPostgreSQL(_ address: String) -> Bool {
        address.hasPrefix("postgres://") || address.hasPrefix("postgresql://")
    }

    /// Opens the database of an address; a SQLite file is created if it does not exist.
    public static func open(_ address: String) throws -> any LedgerDatabase {
        if isPostgreSQL(address) { return try PostgreSQLDatabase(url: address) }
        return try SQLiteDatabase(path: String(address.trimmingPrefix("sqlite:")))
    }

    /// An address in a form that can be shown: without the password, the parameters, and anything else that can hold a
    /// secret.
    public static func withoutSecrets(_ address: String) -> String {
        guard isPostgreSQL(address), let start = address.firstRange(of: "://")?.upperBound else { return address }
        let rest = address[start...].prefix { $0 != "?" }
        // A password can hold an at sign; the last one ends it.
        guard let end = rest.lastIndex(of: "@") else { return String(address[..<start] + rest) }
        let user = rest[..<end].prefix { $0 != ":" }
        return String(address[..<start] + user + rest[end...])
    }
}
