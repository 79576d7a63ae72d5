public import PurchaseVerification

/// Where work with the App Store Server API stands.
public struct AppStoreTaskState: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var kind: AppStoreTaskKind
    public var app: String
    public var environment: AppStoreEnvironment
    public var subject: String

    public init(_ kind: AppStoreTaskKind, app: String, environment: AppStoreEnvironment, subject: String) {
        (self.kind, self.app, self.environment, self.subject) = (kind, app, environment, subject)
    }

    public struct State: Sendable, Equatable {
        public var progress: String?
        public var attempts: Int
        /// `nil` if nothing is left.
        public var nextAt: Timestamp?
    }

    /// - Returns: `nil` for work that was never scheduled.
    public func answer(_ reader: LedgerTransaction) throws -> State? {
        guard let app = reader.registry.app(app), let number = try reader.environments.key(of: environment),
            let row = try AppStoreTasksTable(connection: reader.connection)
                .row(kind, appKey: app.key, environment: number, subject: subject)
        else { return nil }
        return State(progress: row.progress, attempts: Int(row.attempts), nextAt: row.nextAt)
    }
}
