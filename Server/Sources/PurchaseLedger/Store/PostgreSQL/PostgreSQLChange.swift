/// A buffered change of a write.
struct PostgreSQLChange {
    let text: PostgreSQLTexts.Text
    let parameters: [LedgerValue]
    /// Whether it must be executed in order with the other changes of the transaction.
    var isOrdered = false

    /// The statements that execute changes. Insertions into one table become one statement, unless the table is also changed in
    /// another way.
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

    var statement: PostgreSQLStatement { PostgreSQLStatement(text.sql, parameters) }

    private static func joined(
        _ changes: ArraySlice<PostgreSQLChange>
    ) -> [PostgreSQLStatement] {
        // Tables that are changed only by one kind of insertion.
        var insertions: [String: PostgreSQLTexts.Text?] = [:]
        for change in changes {
            guard let table = change.text.changedTable else { continue }
            switch insertions[table] {
            case nil: insertions[table] = .some(change.text.insertion == nil ? nil : change.text)
            case .some(let text?) where text === change.text: break
            default: insertions[table] = .some(nil)
            }
        }
        var places: [ObjectIdentifier: Int] = [:]
        var groups: [[PostgreSQLChange]] = []
        for change in changes {
            if let table = change.text.changedTable, case .some(let text?) = insertions[table], text === change.text {
                if let place = places[ObjectIdentifier(text)] {
                    groups[place].append(change)
                    continue
                }
                places[ObjectIdentifier(text)] = groups.count
            }
            groups.append([change])
        }
        var statements: [PostgreSQLStatement] = []
        for group in groups {
            guard group.count > 1, let insertion = group[0].text.insertion else {
                statements += group.map(\.statement)
                continue
            }
            for rows in distinct(group, insertion.conflict) {
                statements.append(insertion.statement(rows.map(\.parameters)))
            }
        }
        return statements
    }

    /// Rows with the same key in the columns of a conflict go into different statements: a statement may not change a row twice.
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
