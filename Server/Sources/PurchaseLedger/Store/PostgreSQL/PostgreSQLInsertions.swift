/// The insertions of a session. There are few kinds.
final class PostgreSQLInsertions {
    private var insertions: [String: PostgreSQLInsertion] = [:]
    private var numbered: [String: PostgreSQLInsertion] = [:]

    subscript(_ insertion: LedgerInsertion) -> PostgreSQLInsertion {
        if let known = insertions[insertion.sql] { return known }
        let new = PostgreSQLInsertion(insertion, key: nil)
        insertions[insertion.sql] = new
        return new
    }

    /// The insertion of rows with numbers that are known in advance.
    subscript(_ insertion: LedgerInsertion, key key: String) -> PostgreSQLInsertion {
        // A table numbers its rows in one column.
        if let known = numbered[insertion.sql] { return known }
        let new = PostgreSQLInsertion(insertion, key: key)
        numbered[insertion.sql] = new
        return new
    }
}
