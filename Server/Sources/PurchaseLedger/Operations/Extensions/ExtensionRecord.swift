public import PurchaseVerification

/// A request for an extension of a subscription, and Apple's answer.
public struct ExtensionRecord: Sendable, Equatable {
    public var app: String
    public var requestID: String
    public var environment: AppStoreEnvironment
    public var originalTransactionID: String
    /// The bundle id that the subscription states.
    public var bundleID: String?
    public var days: Int64
    public var extensionReason: ExtensionReasonCode
    public var requestedAt: Timestamp
    public var state: ExtensionState
    public var answeredAt: Timestamp?
    /// The new end of the period, as Apple says it. Access follows the signed data that comes afterwards.
    public var effectiveDate: Timestamp?
    /// Apple's number, if it refused.
    public var number: Int64?
    /// The attempts so far that had no answer.
    public var attempts: Int

    init(_ row: ExtensionRow, _ reader: LedgerTransaction) throws(LedgerStorageError) {
        let original = try OriginalsTable(connection: reader.connection).row(row.originalKey)
        app = reader.registry.app(key: row.appKey)?.settings.id ?? ""
        environment = try reader.environments.environment(original.environment)
        originalTransactionID = original.originalID
        (requestID, days, extensionReason) = (row.requestID, row.days, row.reason)
        (requestedAt, state, attempts) = (row.requestedAt, row.state, Int(row.attempts))
        if let newest = try reader.transactions.rows(originalKey: row.originalKey).last(where: { !$0.isErased }) {
            bundleID = try newest.observed(in: environment).bundleID?.string
        }
        guard let key = row.answerEntry, let entry = try JournalTable(connection: reader.connection).row(key: key)
        else {
            return
        }
        answeredAt = entry.at
        guard let content = entry.details else { return }
        let details = try ExtensionAnsweredDetails(encoded: content)
        effectiveDate = details.effectiveDate.map { Timestamp(millisecondsSince1970: $0) }
        number = details.number
    }
}
