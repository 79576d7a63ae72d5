public import PurchaseVerification

/// When the newest notification of an app was received; `nil` if none was.
public struct NewestNotification: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var app: String
    public var environment: AppStoreEnvironment

    public init(app: String, in environment: AppStoreEnvironment) {
        (self.app, self.environment) = (app, environment)
    }

    public func answer(_ reader: LedgerTransaction) throws -> Timestamp? {
        guard let app = reader.registry.app(app), let number = try reader.environments.key(of: environment) else {
            return nil
        }
        return try NotificationsTable(connection: reader.connection).newest(appKey: app.key, environment: number)
    }
}
