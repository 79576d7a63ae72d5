/// Claims all purchases of several rows of an import, in the order of the rows.
///
/// A row that was imported before writes nothing, so an import can be run again after any interruption. A row that
/// proves no purchase writes nothing either. An import never transfers a purchase: it is older than what the ledger
/// knows. A receipt does not say whether its consumables were used, so whoever imports them says it.
public struct ImportPurchases: LedgerOperation {
    /// The app of the settings.
    public let app: String
    /// Whether webhooks deliver the events.
    public let isAnnounced: Bool
    /// What became of consumables; needed if there are any.
    public let consumables: ImportedConsumables?
    let rows: [ExaminedImport]

    /// Rows whose evidence was verified.
    public init(
        app: String, isAnnounced: Bool, consumables: ImportedConsumables? = nil, _ rows: [ExaminedImport]
    ) {
        (self.app, self.isAnnounced, self.consumables, self.rows) = (app, isAnnounced, consumables, rows)
    }

    public func perform(_ transaction: LedgerTransaction) throws -> [ImportOutcome] {
        let app = try transaction.app(app)
        guard consumables != nil || !app.settings.sellsConsumables else {
            throw LedgerRefusal(
                .consumablesUnstated,
                expected: ImportedConsumables.allCases.map(\.rawValue).joined(separator: " or "))
        }
        try transaction.lockCustomers(of: rows.flatMap(\.evidence), claimedFor: app)
        try transaction.load(rows.flatMap(\.evidence), claimedFor: app)
        var outcomes: [ImportOutcome] = []
        for row in rows {
            var imported = ImportedRow(
                row, app: app, isAnnounced: isAnnounced, consumables: consumables ?? .balance, transaction)
            try imported.write()
            outcomes.append(imported.outcome)
        }
        try transaction.entitlements.explainRest()
        return outcomes
    }
}
