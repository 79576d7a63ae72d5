/// A statement in the form that a session sends. A parameter can be a list, which portable SQL does not have.
struct PostgreSQLStatement {
    /// Portable SQL.
    var sql: String
    var parameters: [Parameter]

    enum Parameter {
        case value(LedgerValue)
        /// Values of one type. They contain nulls only if another value shows the type.
        case list([LedgerValue])
    }

    init(_ sql: String, _ parameters: [Parameter]) {
        (self.sql, self.parameters) = (sql, parameters)
    }

    init(_ sql: String, _ values: [LedgerValue]) {
        (self.sql, parameters) = (sql, values.map(Parameter.value))
    }

    init(_ statement: LedgerStatement) { self.init(statement.sql, statement.parameters) }
}
