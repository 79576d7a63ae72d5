import PurchaseVerification

/// Compares the tables, keys, indexes, triggers and policies of a database with those that the migrations create.
struct SchemaComparison {
    let dialect: any LedgerDialect

    /// The definitions by kind and name.
    func definitions(_ connection: any LedgerConnection) throws(LedgerStorageError) -> [String: String] {
        var definitions: [String: String] = [:]
        for row in try connection.rows(dialect.schemaQuery, []) {
            var reader = row.reader
            let object = "\(try reader.text()) \(try reader.text())"
            // Two objects can have one name in the catalog of a database that was tampered with.
            var (name, number) = (object, 1)
            while definitions[name] != nil {
                number += 1
                name = "\(object) (\(number))"
            }
            definitions[name] = try reader.optionalText() ?? ""
        }
        return definitions
    }

    /// The objects outside the schema that change what its tables show.
    func surroundings(_ connection: any LedgerConnection) throws(LedgerStorageError) -> [AuditFinding] {
        guard let query = dialect.surroundingsQuery else { return [] }
        var findings: [AuditFinding] = []
        for row in try connection.rows(query, []) {
            var reader = row.reader
            findings.append(
                AuditFinding(kind: .schemaUnknown, detail: "\(try reader.text()) \(try reader.text())"))
        }
        return findings
    }

    /// The definitions that the migrations create, found in a second database if the engine can create one beside the
    /// ledger's; `nil` otherwise.
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

/// Compares indexes with their tables. An audit reads tables, and a server finds rows by indexes: both must see the
/// same rows.
struct IndexAudit {
    let database: any LedgerDatabase

    /// The differences.
    func findings() async throws -> [AuditFinding] {
        try await database.dialect.indexDifferences(database).map { AuditFinding(kind: .indexDiffers, detail: $0) }
    }
}
