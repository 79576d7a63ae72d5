import PurchaseLedger

/// Every table of a database with every row, as its engine lists them. Text is stored as bytes.
struct DatabaseContent: Equatable {
    let tables: [String: [[LedgerValue]]]

    init(_ database: any LedgerDatabase) async throws {
        let query = database.dialect.schemaQuery
        tables = try await database.read(.lists) { connection in
            var tables: [String: [[LedgerValue]]] = [:]
            for row in try connection.rows(query, []) {
                guard case .text("table") = row.values[0], case .text(let name) = row.values[1] else { continue }
                var rows: [[LedgerValue]] = []
                for row in try connection.rows("SELECT * FROM \(name)", []) { rows.append(Self.exact(row.values)) }
                // The numbers of copy notes are above those of migrations.
                if name == "schema_migrations" { rows.removeAll { $0[0] != .integer(1) } }
                tables[name] = rows.sorted { "\($0)" < "\($1)" }
            }
            return tables
        }
    }

    /// The tables that differ.
    func differences(from other: DatabaseContent) -> [String] {
        Set(tables.keys).union(other.tables.keys).filter { tables[$0] != other.tables[$0] }.sorted()
    }

    private static func exact(_ values: [LedgerValue]) -> [LedgerValue] {
        var exact: [LedgerValue] = []
        for value in values {
            if case .text(let text) = value { exact.append(.blob([1] + Array(text.utf8))) } else { exact.append(value) }
        }
        return exact
    }
}
