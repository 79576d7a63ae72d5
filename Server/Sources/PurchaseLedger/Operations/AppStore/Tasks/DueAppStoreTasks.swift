import PurchaseVerification

/// Counts work with the App Store Server API that is due and that no server does.
public struct DueAppStoreTasks: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var kinds: [AppStoreTaskKind]
    /// The apps that have a key.
    public var apps: [String]
    public var limit: Int

    /// Counts at most this many.
    public init(_ kinds: [AppStoreTaskKind], apps: [String], limit: Int) {
        (self.kinds, self.apps, self.limit) = (kinds, apps, limit)
    }

    public func answer(_ reader: LedgerTransaction) throws -> Int {
        try AppStoreTasksTable(connection: reader.connection).due(
            kinds, apps.compactMap { reader.registry.app($0)?.key }, at: reader.now,
            leaseEnd: reader.now.taskLeaseEnd, limit: Int64(limit)
        ).count
    }
}
