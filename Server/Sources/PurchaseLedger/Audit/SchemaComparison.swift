import PurchaseVerification

/// Compares the tables, unique keys, indexes and triggers of a database with those that the migrations make.
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

    /// How a schema differs from the one that the migrations make.
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
