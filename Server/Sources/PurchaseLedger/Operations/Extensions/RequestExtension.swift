public import PurchaseVerification

/// Records that an operator wants Apple to extend a subscription. Apple's answer follows in another entry.
public struct RequestExtension: LedgerOperation {
    /// The days that Apple takes (Apple, "extendByDays").
    public static let days: ClosedRange<Int64> = 1...90
    /// The longest id that Apple takes, in bytes (Apple, "requestIdentifier").
    static let requestBytes = 128

    public var app: String
    public var originalTransactionID: String
    public var environment: AppStoreEnvironment?
    /// Identifies the request: a repeated one answers with the first.
    public var requestID: String
    public var days: Int64
    public var extensionReason: ExtensionReasonCode
    public var reason: String

    /// An extension by days.
    public init(
        app: String, originalTransactionID: String, environment: AppStoreEnvironment? = nil, requestID: String,
        days: Int64, extensionReason: ExtensionReasonCode, reason: String
    ) {
        self.app = app
        self.originalTransactionID = originalTransactionID
        self.environment = environment
        self.requestID = requestID
        self.days = days
        self.extensionReason = extensionReason
        self.reason = reason
    }

    /// The request, and whether it was recorded before.
    public struct Outcome: Sendable {
        public var record: ExtensionRecord
        public var isReplayed: Bool
    }

    public var locks: LedgerLocks { .parts([.extensionRequest(app, requestID)]) }

    /// - Throws: `field_malformed`, `purchase_unknown`, `purchase_ambiguous`, `extension_conflict`.
    public func perform(_ transaction: LedgerTransaction) throws -> Outcome {
        let app = try transaction.app(app)
        guard Self.days.contains(days) else {
            throw LedgerRefusal(.fieldMalformed, expected: "days from 1 to 90", found: "\(days)")
        }
        guard ExactText(requestID).isIdentifier, requestID.utf8.count <= Self.requestBytes else {
            throw LedgerRefusal(.fieldMalformed, expected: "a request_id of 1 to \(Self.requestBytes) bytes")
        }
        let original = try transaction.subscription(originalTransactionID, environment, app)
        let named = try transaction.environments.environment(original.environment)
        try transaction.connection.lock { () throws(LedgerStorageError) in [.original(named, original.originalID)] }
        let table = ExtensionsTable(connection: transaction.connection)
        if let known = try table.row(request: requestID, appKey: app.key) {
            guard known.originalKey == original.key, known.days == days, known.reason == extensionReason else {
                throw LedgerRefusal(.extensionConflict, expected: "the extension of the first request")
            }
            return Outcome(record: try ExtensionRecord(known, transaction), isReplayed: true)
        }
        let periods = try transaction.transactions.rows(originalKey: original.key)
        guard periods.contains(where: { $0.kind == .autoRenewable }) else {
            throw LedgerRefusal(.purchaseUnknown, expected: "a subscription", found: originalTransactionID)
        }
        let entry = try transaction.journal.append(
            transaction.draft(app),
            ExtensionRequestedDetails(
                requestID: requestID, environment: named.name, originalID: original.originalID,
                originalSecond: original.xcodeSecond == 0 ? nil : original.xcodeSecond, days: days,
                extensionReason: extensionReason.rawValue, reason: reason))
        let row = ExtensionRow(
            entryKey: entry.key, appKey: app.key, originalKey: original.key, requestID: requestID, days: days,
            reason: extensionReason, at: transaction.now)
        try table.insert(row)
        return Outcome(record: try ExtensionRecord(row, transaction), isReplayed: false)
    }
}
