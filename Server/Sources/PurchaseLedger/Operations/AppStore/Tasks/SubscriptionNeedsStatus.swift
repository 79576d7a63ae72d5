public import PurchaseVerification

/// Whether the App Store has to be asked for the status of a subscription: its last period has ended, is not withdrawn,
/// and nothing that was signed after its end is known, except a grace period without an end.
public struct SubscriptionNeedsStatus: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var environment: AppStoreEnvironment
    public var originalTransactionID: String

    public init(_ originalTransactionID: String, in environment: AppStoreEnvironment) {
        (self.originalTransactionID, self.environment) = (originalTransactionID, environment)
    }

    public func answer(_ reader: LedgerTransaction) throws -> Bool {
        guard let number = try reader.environments.key(of: environment),
            let original = try OriginalsTable(connection: reader.connection)
                .rows(id: originalTransactionID, environment: number).first
        else { return false }
        let history = try HistoryReader(transaction: reader).history(original)
        let facts = history.records.filter { !$0.isErased }.map(\.facts)
        guard let last = facts.max(by: { ($0.end ?? .epoch) < ($1.end ?? .epoch) }), let end = last.end,
            end <= reader.now
        else { return false }
        if last.signedRevocation != nil || last.cancellation != nil { return false }
        if history.renewal?.info.isGraceEndUnknown ?? false { return true }
        let stamps = [history.renewal?.stamp, last.newestStamp] + history.statuses.values.map(\.stamp)
        return !stamps.contains { $0.map { $0 >= end } ?? false }
    }
}
