public import PurchaseVerification

/// Schedules what a write of evidence gives reason to ask or to tell the App Store.
struct AppStoreTaskScheduling {
    private let write: EvidenceWrite

    init(_ write: EvidenceWrite) { self.write = write }

    /// How long after the end of a period its status is asked for, in milliseconds: news usually come within seconds.
    private static let patience: Int64 = 300_000
    /// A period that ended longer ago is not asked about: the App Store tries to collect a price for 60 days.
    private static let oldestEnd: Int64 = 60 * 86_400_000

    func schedule() throws(LedgerStorageError) {
        guard let app = write.observer, app.settings.hasAppStoreKey else { return }
        for history in write.changes.histories { try scheduleStatus(of: history, app) }
        guard app.settings.setsAccountTokens else { return }
        for claim in write.claims where claim.binds {
            let record = write.record(of: claim)
            guard record.hasFirstOwner, record.facts.accountToken == nil else { continue }
            try Self.scheduleToken(of: record, app, write.transaction)
        }
    }

    /// Asks for the status of a subscription after the end of its last period, unless news come before, and for the end
    /// of a grace period that was signed without one.
    private func scheduleStatus(of history: PurchaseHistory, _ app: RegistryApp) throws(LedgerStorageError) {
        let (transaction, environment) = (write.transaction, history.key.environment)
        guard environment == .production || environment == .sandbox else { return }
        let periods = history.records.filter { !$0.isErased && $0.facts.kind == .autoRenewable }
        let lacksGraceEnd =
            history.renewal?.info.isGraceEndUnknown ?? false
            && !(history.formerRenewal?.info.isGraceEndUnknown ?? false)
        guard let last = periods.max(by: { ($0.facts.end ?? .epoch) < ($1.facts.end ?? .epoch) }),
            let end = last.facts.end, lacksGraceEnd || last.isChanged && last.formerFacts?.end != end,
            end.adding(milliseconds: Self.oldestEnd, times: 1) > transaction.now
        else { return }
        let length = end.millisecondsSince1970 - last.date.millisecondsSince1970
        let due = end.adding(milliseconds: min(Self.patience, max(0, length / 2)), times: 1)
        try AppStoreTasksTable(connection: transaction.connection).schedule(
            .status, appKey: app.key, environment: try transaction.environments.keyToWrite(of: environment),
            subject: history.original.originalID, at: max(due, transaction.now))
    }

    /// Gives the App Store the account token of the owner of a purchase.
    static func scheduleToken(
        of record: TransactionRecord, _ app: RegistryApp, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) {
        let key = record.facts.original
        guard app.settings.hasAppStoreKey, key.environment == .production || key.environment == .sandbox,
            record.facts.ownership.holder == .buyer
        else { return }
        try AppStoreTasksTable(connection: transaction.connection).schedule(
            .token, appKey: app.key, environment: try transaction.environments.keyToWrite(of: key.environment),
            subject: key.transactionID.string, at: transaction.now)
    }
}

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

/// Leases work with the App Store Server API that is due, the longest overdue first.
public struct LeaseAppStoreTasks: LedgerOperation {
    public var kinds: [AppStoreTaskKind]
    /// The apps that have a key.
    public var apps: [String]
    public var limit: Int

    /// How long one server may work without noting its progress, in milliseconds.
    public static let lease: Int64 = 120_000

    public init(_ kinds: [AppStoreTaskKind], apps: [String], limit: Int) {
        (self.kinds, self.apps, self.limit) = (kinds, apps, limit)
    }

    public var locks: LedgerLocks { .parts([.appStoreTasks]) }

    public func perform(_ transaction: LedgerTransaction) throws -> [AppStoreTask] {
        let table = AppStoreTasksTable(connection: transaction.connection)
        let end = transaction.now.taskLeaseEnd
        let rows = try table.due(
            kinds, apps.compactMap { transaction.registry.app($0)?.key }, at: transaction.now, leaseEnd: end,
            limit: Int64(limit))
        var tasks: [AppStoreTask] = []
        for row in rows {
            guard let kind = AppStoreTaskKind(rawValue: row.kind),
                let app = transaction.registry.app(key: row.appKey)
            else { continue }
            try table.lease(row, until: end)
            var task = AppStoreTask(
                kind, app: app.settings.id,
                environment: try transaction.environments.environment(row.environment), subject: row.subject,
                progress: row.progress, attempts: Int(row.attempts))
            task.scheduled = row.scheduled
            tasks.append(task)
        }
        return tasks
    }
}

extension Timestamp {
    /// The end of the lease of one server.
    var taskLeaseEnd: Timestamp {
        Timestamp(millisecondsSince1970: millisecondsSince1970 + LeaseAppStoreTasks.lease)
    }
}

/// Records where work with the App Store Server API continues, and when.
public struct NoteAppStoreTask: LedgerOperation {
    public var task: AppStoreTask
    /// When it continues; `nil` if nothing is left.
    public var next: Timestamp?
    /// Whether the server that has the lease goes on with it now.
    public var isHeld: Bool

    /// The progress and attempts of the task as they are now.
    public init(_ task: AppStoreTask, next: Timestamp?, isHeld: Bool = false) {
        (self.task, self.next, self.isHeld) = (task, next, isHeld)
    }

    public var locks: LedgerLocks { .parts([.appStoreTasks]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        let app = try transaction.app(task.app)
        let number = try transaction.environments.keyToWrite(of: task.environment)
        let table = AppStoreTasksTable(connection: transaction.connection)
        func known() throws(LedgerStorageError) -> AppStoreTaskRow? {
            try table.row(task.kind, appKey: app.key, environment: number, subject: task.subject)
        }
        if try known() == nil {
            try table.schedule(
                task.kind, appKey: app.key, environment: number, subject: task.subject, at: transaction.now)
        }
        guard let row = try known() else { return }
        var next = next
        // What was scheduled while the work was done is still to be done.
        if !isHeld, row.scheduled != task.scheduled { next = row.nextAt }
        try table.note(
            row, progress: task.progress, attempts: Int64(task.attempts), next: next,
            leasedUntil: isHeld ? transaction.now.taskLeaseEnd : nil)
    }
}

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
