/// Compares indexes with their tables. An audit reads tables, and a server finds rows by indexes: both must see the
/// same rows.
struct IndexAudit {
    let database: any LedgerDatabase

    /// The differences.
    func findings() async throws -> [AuditFinding] {
        try await database.dialect.indexDifferences(database).map { AuditFinding(kind: .indexDiffers, detail: $0) }
    }

    /// Makes all indexes again.
    ///
    /// - Returns: the differences that there were. Those that remain are found by the next audit.
    func repair() async throws -> [AuditFinding] {
        let before = try await findings()
        let dialect = database.dialect
        do {
            try await database.write { connection in
                for sql in dialect.unlimitedTime + dialect.reindexing { try connection.execute(sql, []) }
            }
        } catch let error as LedgerStorageError where error.kind == .constraint || error.kind == .corrupt {
            // Two rows with one unique key: the audit that follows names them.
            return []
        }
        let remaining = try await findings()
        return before.filter { !remaining.contains($0) }
    }
}
