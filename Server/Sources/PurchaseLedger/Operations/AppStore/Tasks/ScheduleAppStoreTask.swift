public import PurchaseVerification

/// Adds work with the App Store Server API, unless it is known.
public struct ScheduleAppStoreTask: LedgerOperation {
    public var kind: AppStoreTaskKind
    public var app: String
    public var environment: AppStoreEnvironment
    public var subject: String
    /// When it is done; `nil` for now.
    public var next: Timestamp?
    /// Whether work that is known is done at that time, too. Otherwise it keeps its own.
    public var isMoved: Bool

    public init(
        _ kind: AppStoreTaskKind, app: String, environment: AppStoreEnvironment, subject: String,
        at next: Timestamp? = nil, isMoved: Bool = false
    ) {
        self.kind = kind
        self.app = app
        self.environment = environment
        self.subject = subject
        self.next = next
        self.isMoved = isMoved
    }

    public var locks: LedgerLocks { .parts([.appStoreTasks]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        let app = try transaction.app(app)
        let number = try transaction.environments.keyToWrite(of: environment)
        let table = AppStoreTasksTable(connection: transaction.connection)
        if !isMoved,
            let known = try table.row(kind, appKey: app.key, environment: number, subject: subject),
            known.nextAt != nil
        {
            return
        }
        try table.schedule(
            kind, appKey: app.key, environment: number, subject: subject, at: next ?? transaction.now)
    }
}
