import Synchronization

/// The schema of the ledger's tables, which the connections of a database share.
///
/// The search path of a role begins with a schema of the role's name, and whoever owns the database can create that
/// schema. So a connection finds the ledger's schema by its tables, and its search path has only this schema, after
/// PostgreSQL's own.
final class PostgreSQLHome: Sendable {
    private let name = Mutex<String?>(nil)

    /// Returns the search path of the connections, and finds it with the first one.
    func path(_ session: PostgreSQLSession) throws(LedgerStorageError) -> String {
        if let known = name.withLock({ $0 }) { return Self.path(known) }
        let answer = try Self.ask(session)
        // The operator's own search path, in the URL or PGOPTIONS, decides between several ledgers.
        let found = answer.isChosen ? answer.ledgers.filter { answer.path.contains($0) } : answer.ledgers
        guard found.count < 2 else {
            throw LedgerStorageError(
                .unavailable,
                """
                the schemas \(found.joined(separator: ", ")) have a table schema_migrations of Assay; name one of them in the \
                database's URL with ?options=-c%20search_path%3DNAME
                """)
        }
        if let ledger = found.first {
            name.withLock { $0 = ledger }
            return Self.path(ledger)
        }
        guard let empty = answer.path.first else {
            throw LedgerStorageError(
                .unavailable, "the search path of the role names no schema that exists and that the role may use")
        }
        // A migration makes the tables there; later connections find them.
        return Self.path(empty)
    }

    /// PostgreSQL's own schema comes before those of a search path that does not name it. Temporary tables come last.
    private static func path(_ schema: String) -> String {
        "\"\(schema.replacing("\"", with: "\"\""))\", pg_temp"
    }

    private struct Answer {
        /// The schemas of the search path that the connection began with.
        var path: [String] = []
        /// Whether the operator chose this path for the connection.
        var isChosen = false
        /// The schemas with a ledger.
        var ledgers: [String] = []
    }

    /// Nothing in the queries depends on the search path that the connection began with.
    private static func ask(_ session: PostgreSQLSession) throws(LedgerStorageError) -> Answer {
        let outputs = try session.run(
            [
                "BEGIN READ ONLY",
                """
                SELECT source OPERATOR(pg_catalog.=) 'client', schema FROM pg_catalog.pg_settings
                CROSS JOIN pg_catalog.unnest(pg_catalog.current_schemas(false)) WITH ORDINALITY AS schemas (schema, place)
                WHERE name OPERATOR(pg_catalog.=) 'search_path' ORDER BY place
                """,
                "SET LOCAL search_path = pg_temp",
                """
                SELECT nspname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace
                WHERE relname = 'schema_migrations' AND relkind IN ('r', 'p', 'f', 'v', 'm') AND nspname !~ '^pg_'
                AND 3 = (SELECT count(*) FROM pg_catalog.pg_attribute
                WHERE attrelid = pg_class.oid AND attname IN ('number', 'title', 'applied_at')) ORDER BY nspname
                """,
                "ROLLBACK",
            ].map { PostgreSQLStatement($0, [LedgerValue]()) })
        var answer = Answer()
        for row in outputs[1].rows {
            var reader = row.reader
            let (isChosen, schema) = (try reader.integer() != 0, try reader.text())
            answer.isChosen = isChosen
            if !schema.hasPrefix("pg_") { answer.path.append(schema) }
        }
        for row in outputs[3].rows {
            var reader = row.reader
            answer.ledgers.append(try reader.text())
        }
        return answer
    }
}
