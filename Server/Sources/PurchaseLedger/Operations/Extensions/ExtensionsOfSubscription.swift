public import PurchaseVerification

/// The requests for extensions of a subscription, the newest first.
public struct ExtensionsOfSubscription: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    public var originalTransactionID: String
    public var environment: AppStoreEnvironment?
    public var limit: Int

    public init(app: String, originalTransactionID: String, environment: AppStoreEnvironment? = nil, limit: Int) {
        self.app = app
        self.originalTransactionID = originalTransactionID
        self.environment = environment
        self.limit = limit
    }

    /// - Throws: `purchase_unknown`, `purchase_ambiguous`.
    public func answer(_ reader: LedgerTransaction) throws -> [ExtensionRecord] {
        let original = try reader.subscription(originalTransactionID, environment, try reader.app(app))
        return try ExtensionsTable(connection: reader.connection).rows(original: original.key, limit: Int64(limit))
            .map { row throws(LedgerStorageError) in try ExtensionRecord(row, reader) }
    }
}
