/// The statements of SQLite that are not portable.
struct SQLiteDialect: LedgerDialect {
    /// The portable types are SQLite's own.
    func definition(_ sql: String) -> String { sql }

    /// Names that begin with `sqlite_` are SQLite's own: the indexes of unique columns, which the tables define.
    var schemaQuery: String {
        "SELECT type, name, sql FROM sqlite_master WHERE substr(name, 1, 7) <> 'sqlite_' ORDER BY type, name"
    }

    /// `INSERT OR REPLACE` deletes the old row without running the trigger for deletions, so the trigger for insertions looks
    /// for a row with the same key.
    func appendOnly(_ rule: AppendOnlyRule) -> [String] {
        let table = rule.table
        let refusal = "BEGIN SELECT RAISE(ABORT, '\(table) is append-only'); END"
        let exists = rule.keys.map { "EXISTS (SELECT 1 FROM \(table) WHERE \($0) = NEW.\($0))" }
        let changed =
            rule.columns.map { "NEW.\($0) IS NOT OLD.\($0)" }
            + rule.erasable.map { "(NEW.\($0) IS NOT NULL AND NEW.\($0) IS NOT OLD.\($0))" }
            + rule.refillable.map {
                "(NEW.\($0) IS NOT NULL AND OLD.\($0) IS NOT NULL AND NEW.\($0) IS NOT OLD.\($0))"
            }
        return [
            """
            CREATE TRIGGER \(table)_no_update BEFORE UPDATE ON \(table) WHEN \(changed.joined(separator: " OR "))
            \(refusal)
            """,
            "CREATE TRIGGER \(table)_no_delete BEFORE DELETE ON \(table) \(refusal)",
            """
            CREATE TRIGGER \(table)_no_replace BEFORE INSERT ON \(table) WHEN \(exists.joined(separator: " OR "))
            \(rule.ignoresDuplicates ? "BEGIN SELECT RAISE(IGNORE); END" : refusal)
            """,
        ]
    }
}
