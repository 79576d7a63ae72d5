import PurchaseVerification

/// Compares the tables, unique keys, indexes and triggers of a database with those that the migrations create.
struct SchemaComparison {
    let dialect: any LedgerDialect

    /// The definitions by kind and name.
    func definitions(_ connection: any LedgerConnection) throws(LedgerStorageError) -> [String: String] {
        var definitions: [String: String] = [:]
        for row in try connection.rows(dialect.schemaQuery, []) {
            var reader = row.reader
            let name = "\(try reader.text()) \(try reader.text())"
            definitions[name] = try reader.optionalText() ?? ""
        }
        return definitions
    }

    /// The definitions that the migrations create, found in a second database if the engine can create one beside the ledger's;
    /// `nil` otherwise.
    static func expected(_ database: any LedgerDatabase) async throws -> [String: String]? {
        struct Expected: Error {
            let definitions: [String: String]
        }
        let dialect = database.dialect
        guard !dialect.scratchSchema.isEmpty else { return nil }
        do {
            try await database.write({ .parts([]) }) { connection in
                for sql in dialect.scratchSchema { try connection.execute(sql, []) }
                try LedgerMigrations.create(connection, dialect)
                throw Expected(definitions: try SchemaComparison(dialect: dialect).definitions(connection))
            }
        } catch let expected as Expected {
            return expected.definitions
        }
        return nil
    }

    /// The differences between a schema and the one that the migrations create.
    func findings(_ found: [String: String], expected: [String: String]) -> [AuditFinding] {
        var findings: [AuditFinding] = []
        for (name, definition) in expected {
            guard let present = found[name] else {
                findings.append(AuditFinding(kind: .schemaMissing, detail: name))
                continue
            }
            if !present.isSame(as: definition) { findings.append(AuditFinding(kind: .schemaDiffers, detail: name)) }
        }
        for name in found.keys where expected[name] == nil {
            findings.append(AuditFinding(kind: .schemaUnknown, detail: name))
        }
        return findings.sorted { $0.detail < $1.detail }
    }
}
