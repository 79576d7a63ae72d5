import PurchaseVerification

/// Ends the migrations of this release: removes what only the release before used, numbers the schema, and records the
/// new rules. All of it is one transaction under the lock of the whole ledger, so each write decides wholly under the
/// rules before or wholly under the new ones, and the log shows which.
struct BeginRelease: LedgerOperation {
    let dialect: any LedgerDialect
    let release: LedgerRelease

    func perform(_ transaction: LedgerTransaction) throws -> ReleaseBeginning {
        let connection = transaction.connection
        let applied = try SchemaNumber.current(connection) ?? 0
        let migrations = release.migrations.filter { $0.number > applied }
        for migration in migrations {
            try LedgerMigrations.end(
                migration, now: transaction.now.millisecondsSince1970, connection, dialect)
        }
        let table = RulesTable(connection: connection)
        let isNew = try (table.latest() ?? 0) < release.rules.upperBound
        if isNew {
            let entry = try transaction.journal.append(
                transaction.draft(nil), RulesDetails(version: release.rules.upperBound))
            try table.insert(release.rules.upperBound, entry: entry.key)
        }
        return ReleaseBeginning(
            migrations: migrations.map(\.number), rules: isNew ? release.rules.upperBound : nil)
    }
}

extension PurchaseLedger {
    /// Ends the migrations of this release, which must have added what they add, and begins with its rules.
    ///
    /// Before, the release before can still write and be started again; afterwards, only a backup leads back.
    ///
    /// - Throws: `LedgerStorageError`.
    public func beginRelease(of release: LedgerRelease = .this) async throws -> ReleaseBeginning {
        try await perform(BeginRelease(dialect: database.dialect, release: release))
    }
}
