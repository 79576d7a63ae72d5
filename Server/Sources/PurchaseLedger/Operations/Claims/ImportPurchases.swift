/// Claims all purchases of several rows of an import, in the order of the rows.
///
/// A row that was imported before writes nothing, so an import can be run again after any interruption. A row that proves no
/// purchase writes nothing either. An import never transfers a purchase: it is older than what the ledger knows.
public struct ImportPurchases: LedgerOperation {
    /// The app of the settings.
    public let app: String
    /// Whether webhooks deliver the events.
    public let isAnnounced: Bool
    let rows: [ExaminedImport]

    /// Rows whose evidence was verified.
    public init(app: String, isAnnounced: Bool, _ rows: [ExaminedImport]) {
        (self.app, self.isAnnounced, self.rows) = (app, isAnnounced, rows)
    }

    public func perform(_ transaction: LedgerTransaction) throws -> [ImportOutcome] {
        let app = try transaction.app(app)
        var settings = app.settings
        settings.transfer = .deny
        let claimant = RegistryApp(key: app.key, settings: settings)
        try transaction.lockCustomers(of: rows.flatMap(\.evidence), claimedFor: claimant)
        var outcomes: [ImportOutcome] = []
        for row in rows {
            var imported = ImportedRow(row, app: claimant, isAnnounced: isAnnounced, transaction)
            try imported.write()
            outcomes.append(imported.outcome)
        }
        return outcomes
    }
}
