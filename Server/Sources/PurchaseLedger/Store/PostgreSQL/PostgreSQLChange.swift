/// A change that a write made, and that is sent later.
struct PostgreSQLChange {
    let sql: String
    let parameters: [LedgerValue]
    /// Whether it keeps its place among the others of the transaction.
    var isOrdered = false
    /// How many rows it must change.
    var rows: Int?

    /// The statements that carry out changes. Insertions into one table are one statement, unless the table is changed in another way
    /// as well.
    static func statements(_ changes: [PostgreSQLChange], _ texts: PostgreSQLTexts) -> [PostgreSQLStatement] {
        var statements: [PostgreSQLStatement] = []
        var rest = changes[...]
        while !rest.isEmpty {
            let free = rest.prefix { !$0.isOrdered }
            statements += joined(free, texts)
            rest = rest.dropFirst(free.count)
            if let ordered = rest.popFirst() { statements.append(ordered.statement) }
        }
        return statements
    }

    var statement: PostgreSQLStatement {
        guard let rows else { return PostgreSQLStatement(sql, parameters) }
        return PostgreSQLStatement(
            PostgreSQLInsertion.counted(sql, rows: "?\(parameters.count + 1)"), parameters + [.integer(Int64(rows))])
    }

    private static func joined(
        _ changes: ArraySlice<PostgreSQLChange>, _ texts: PostgreSQLTexts
    ) -> [PostgreSQLStatement] {
        var textsOfTables: [String: Set<String>] = [:]
        for change in changes {
            textsOfTables[texts[change.sql].changedTable ?? "", default: []].insert(change.sql)
        }
        var places: [String: Int] = [:]
        var groups: [[PostgreSQLChange]] = []
        for change in changes {
            let text = texts[change.sql]
            if text.insertion != nil, let table = text.changedTable, textsOfTables[table]?.count == 1 {
                if let place = places[change.sql] {
                    groups[place].append(change)
                    continue
                }
                places[change.sql] = groups.count
            }
            groups.append([change])
        }
        var statements: [PostgreSQLStatement] = []
        for group in groups {
            guard group.count > 1, let insertion = texts[group[0].sql].insertion else {
                statements += group.map(\.statement)
                continue
            }
            for rows in distinct(group, insertion.conflict) {
                statements.append(
                    insertion.statement(rows.map(\.parameters), isCounted: rows.contains { $0.rows != nil }))
            }
        }
        return statements
    }

    /// Rows with the same key in the columns of a conflict go into different statements: one may not change a row twice.
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
