import PurchaseVerification

/// A numbered step of the schema. A released migration is frozen text: it never changes and never calls today's code.
public struct LedgerMigration: Sendable {
    /// The number: 1, 2, 3…
    public let number: Int64
    /// The additions of the migration, and the reason.
    public let title: String
    /// Its statements, in order.
    let statements: [Statement]

    enum Statement: Sendable {
        /// A table or an index, in portable types.
        case definition(String)
        /// A table whose rows never change.
        case appendOnly(AppendOnlyRule)
        /// Portable SQL.
        case sql(String)
    }

    func run(_ connection: any LedgerConnection, _ dialect: any LedgerDialect) throws(LedgerStorageError) {
        for statement in statements {
            switch statement {
            case .definition(let sql): try connection.execute(dialect.definition(sql), [])
            case .sql(let sql): try connection.execute(sql, [])
            case .appendOnly(let rule):
                for sql in dialect.appendOnly(rule) { try connection.execute(sql, []) }
            }
        }
    }
}
