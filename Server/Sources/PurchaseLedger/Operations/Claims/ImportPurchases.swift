public import PurchaseVerification

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

/// One row of an import: a customer's purchases in an existing system.
public struct ImportSubmission: Sendable {
    public var customerID: String
    /// Receipts and signed transactions. All of their purchases are claimed.
    public var evidence: [[UInt8]]
    /// An order that one of the purchases pays.
    public var orderID: String?
    /// When the existing system received the evidence. The time is recorded and affects no decision.
    public var importedAt: Timestamp?

    /// A row of an import.
    public init(customerID: String, evidence: [[UInt8]], orderID: String? = nil, importedAt: Timestamp? = nil) {
        self.customerID = customerID
        self.evidence = evidence
        self.orderID = orderID
        self.importedAt = importedAt
    }
}

extension PurchaseLedger {
    /// Verifies the evidence of a row. It holds no lock, so rows can be verified on several cores.
    public func examine(_ submission: ImportSubmission, app: String) -> ExaminedImport {
        ExaminedImport(submission: submission, evidence: submission.evidence.map { examine($0) })
    }
}

/// A row of an import whose evidence was verified.
public struct ExaminedImport: Sendable {
    let submission: ImportSubmission
    let evidence: [ExaminedEvidence]
}

/// The result for one row of an import.
public struct ImportOutcome: Sendable, Equatable {
    /// Why the row was rejected: its evidence was refused, a purchase belongs to another customer or gives nothing
    /// under the settings, or its order was refused. `nil` if it was accepted.
    public var rejection: Rejection?
    /// The product of the purchase that rejected the row; `nil` if no purchase did.
    public var product: String?
    /// The code of each purchase of the row, each once: `accepted`, or why it currently gives nothing. Expired,
    /// refunded and upgraded purchases are accepted history.
    public var purchases: [String] = []
    /// Whether an earlier import recorded the whole row, so that nothing was written.
    public var isKnown = false

    /// `accepted`, or the code of the rejection.
    public var code: String { rejection?.code ?? DecisionCode.accepted.rawValue }
}
