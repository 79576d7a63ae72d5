/// A buffered change of a write.
struct PostgreSQLChange {
    /// What it does, with its parameters.
    enum Content {
        case insertion(PostgreSQLInsertion)
        /// Portable SQL that changes a table.
        case statement(String, table: String)
    }

    let content: Content
    let parameters: [LedgerValue]
    /// Whether it must be executed in order with the other changes of the transaction.
    var isOrdered = false

    /// The end of a write that ran in a savepoint.
    static var end: PostgreSQLChange {
        PostgreSQLChange(
            content: .statement("RELEASE SAVEPOINT job", table: ""), parameters: [], isOrdered: true)
    }

    /// The table whose rows it changes.
    var table: String {
        switch content {
        case .insertion(let insertion): insertion.table
        case .statement(_, let table): table
        }
    }

    /// Whether it can change the result of a query with some parameters.
    func affects(_ scope: ReadScope, _ values: [LedgerValue]) -> Bool {
        guard scope.tables.contains(table) else { return false }
        guard let insertion else { return true }
        return insertion.affects(parameters, values, in: scope.columns(of: table))
    }

    var statement: PostgreSQLStatement {
        switch content {
        case .insertion(let insertion): PostgreSQLStatement(insertion.sql, parameters)
        case .statement(let sql, _): PostgreSQLStatement(sql, parameters)
        }
    }

    /// The statements that execute changes. Insertions into one table become one statement, unless the table is also
    /// changed in another way.
    static func statements(_ changes: [PostgreSQLChange]) -> [PostgreSQLStatement] {
        var statements: [PostgreSQLStatement] = []
        var rest = changes[...]
        while !rest.isEmpty {
            let free = rest.prefix { !$0.isOrdered }
            statements += joined(free)
            rest = rest.dropFirst(free.count)
            if let ordered = rest.popFirst() { statements.append(ordered.statement) }
        }
        return statements
    }

    private var insertion: PostgreSQLInsertion? {
        if case .insertion(let insertion) = content { insertion } else { nil }
    }

    private static func joined(_ changes: ArraySlice<PostgreSQLChange>) -> [PostgreSQLStatement] {
        // Tables that are changed only by one kind of insertion.
        var insertions: [String: PostgreSQLInsertion?] = [:]
        for change in changes {
            switch insertions[change.table] {
            case nil: insertions[change.table] = .some(change.insertion)
            case .some(let insertion?) where insertion === change.insertion: break
            default: insertions[change.table] = .some(nil)
            }
        }
        var places: [ObjectIdentifier: Int] = [:]
        var groups: [[PostgreSQLChange]] = []
        for change in changes {
            if case .some(let insertion?) = insertions[change.table] {
                if let place = places[ObjectIdentifier(insertion)] {
                    groups[place].append(change)
                    continue
                }
                places[ObjectIdentifier(insertion)] = groups.count
            }
            groups.append([change])
        }
        var statements: [PostgreSQLStatement] = []
        for group in groups {
            guard group.count > 1, let insertion = group[0].insertion else {
                statements += group.map(\.statement)
                continue
            }
            for rows in distinct(group, insertion.conflict) {
                statements.append(insertion.statement(rows.map(\.parameters)))
            }
        }
        return statements
    }

    /// Rows with the same key in the columns of a conflict go into different statements: a statement may not change a
    /// row twice.
    private static func distinct(_ changes: [PostgreSQLChange], _ columns: [Int]) -> [[PostgreSQLChange]] {
        guard !columns.isEmpty else { return [changes] }
        var rounds: [[PostgreSQLChange]] = []
        var counts: [[LedgerValue]: Int] = [:]
        for change in changes {
            let round = counts[columns.map { change.parameters[$0] }, default: 0]
            counts[columns.map { change.parameters[$0] }] = round + 1
            if round == rounds.count { rounds.append([]) }
            rounds[round].append(change)
        }
        return rounds
    }
}
