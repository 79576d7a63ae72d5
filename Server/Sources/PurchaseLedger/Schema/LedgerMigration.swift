import PurchaseVerification

/// A numbered step of the schema. A released migration is frozen text: it never changes and never calls today's code.
public struct LedgerMigration: Sendable {
    /// The number: 1, 2, 3…
    public let number: Int64
    /// The additions of the migration, and the reason.
    public let title: String
    /// What it adds, in order. From number 10 on, the servers of the release before go on writing afterwards
    /// (`LedgerRelease`).
    let statements: [Statement]
    /// What it removes once these servers no longer write.
    let removals: [Statement]

    init(number: Int64, title: String, statements: [Statement], removals: [Statement] = []) {
        (self.number, self.title, self.statements, self.removals) = (number, title, statements, removals)
    }

    enum Statement: Sendable {
        /// A table or an index, in portable types.
        case definition(String)
        /// A table whose rows never change.
        case appendOnly(AppendOnlyRule)
        /// Portable SQL.
        case sql(String)
    }

    /// Adds what the migration adds.
    func expand(_ connection: any LedgerConnection, _ dialect: any LedgerDialect) throws(LedgerStorageError) {
        try Self.run(statements, connection, dialect)
    }

    /// Removes what only the releases before used.
    func contract(_ connection: any LedgerConnection, _ dialect: any LedgerDialect) throws(LedgerStorageError) {
        try Self.run(removals, connection, dialect)
    }

    private static func run(
        _ statements: [Statement], _ connection: any LedgerConnection, _ dialect: any LedgerDialect
    ) throws(LedgerStorageError) {
        for statement in statements {
            switch statement {
            case .definition(let sql): try connection.execute(dialect.definition(sql), [])
            case .sql(let sql): try connection.execute(sql, [])
            case .appendOnly(let rule):
                for sql in dialect.appendOnly(rule) { try connection.execute(sql, []) }
            }
        }
    }

    /// The statements that do not only add, as text: a server of the release before could fail after them.
    package var incompatibleStatements: [String] {
        statements.compactMap { statement in
            guard case .sql(let sql) = statement else {
                guard case .definition(let sql) = statement else { return nil }
                return sql.contains(" UNIQUE ") && !sql.hasPrefix("CREATE TABLE") ? sql : nil
            }
            let isColumn = sql.hasPrefix("ALTER TABLE ") && sql.contains(" ADD COLUMN ")
            return isColumn && (!sql.contains("NOT NULL") || sql.contains("DEFAULT")) ? nil : sql
        }
    }
}
