import PurchaseVerification

/// Whether a refund request of one of some apps is due.
public struct DueConsumptionRequests: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var apps: [String]

    public init(apps: [String]) { self.apps = apps }

    public func answer(_ reader: LedgerTransaction) throws -> Bool {
        let keys = reader.registry.apps.filter { app in apps.contains { $0.isSame(as: app.settings.id) } }.map(\.key)
        return try !ConsumptionRequestsTable(connection: reader.connection).due(keys, at: reader.now, limit: 1).isEmpty
    }
}
