public import PurchaseVerification

public import struct Foundation.UUID

/// Work with the App Store that one server does at a time.
public struct LedgerWork: Sendable, Equatable {
    public let kind: WorkKind
    /// The app of the settings.
    public let app: String
    /// Empty for work with an entry.
    public let environment: AppStoreEnvironment
    /// A bundle id for notifications, the number of an entry (`WorkKind.isOfEntry`), otherwise an original transaction
    /// id.
    public let subject: String
    /// The entry that gave reason for it.
    public private(set) var entry: UUID?
    /// Where the work continues; `nil` at its beginning.
    public var progress: String?
    /// The number of attempts without an answer.
    public var attempts: Int
    /// When it was scheduled first.
    public private(set) var since = Timestamp.epoch
    /// How often it was scheduled again when it was leased.
    private(set) var scheduled: Int64 = 0

    /// Work with an original or a bundle id.
    public init(
        _ kind: WorkKind, app: String, environment: AppStoreEnvironment, subject: String, progress: String? = nil,
        attempts: Int = 0
    ) {
        (self.kind, self.app, self.environment, self.subject) = (kind, app, environment, subject)
        (self.progress, self.attempts) = (progress, attempts)
    }

    /// - Returns: `nil` if its app is no longer in the settings, or its entry does not exist.
    init?(_ row: WorkRow, _ reader: LedgerTransaction) throws(LedgerStorageError) {
        guard let app = reader.registry.app(key: row.key.appKey) else { return nil }
        let isOfEntry = row.key.kind.isOfEntry
        self.init(
            row.key.kind, app: app.settings.id,
            environment: isOfEntry
                ? AppStoreEnvironment("") : try reader.environments.environment(row.key.environment),
            subject: row.key.subject, progress: row.progress, attempts: Int(row.attempts))
        (since, scheduled) = (row.since, row.scheduled)
        guard isOfEntry else { return }
        guard let key = Int64(subject), let entry = try JournalTable(connection: reader.connection).row(key: key)
        else { return nil }
        self.entry = entry.id
    }

    func key(_ transaction: LedgerTransaction) throws -> WorkKey {
        let app = try transaction.app(app)
        let environment = kind.isOfEntry ? 0 : try transaction.environments.keyToWrite(of: environment)
        return WorkKey(kind, appKey: app.key, environment: environment, subject: subject)
    }
}

/// Where work with an original or a bundle id stands.
public struct WorkState: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var kind: WorkKind
    public var app: String
    public var environment: AppStoreEnvironment
    public var subject: String

    public init(_ kind: WorkKind, app: String, environment: AppStoreEnvironment, subject: String) {
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
            let row = try WorkTable(connection: reader.connection)
                .row(WorkKey(kind, appKey: app.key, environment: number, subject: subject))
        else { return nil }
        return State(progress: row.progress, attempts: Int(row.attempts), nextAt: row.nextAt)
    }
}

/// Some of the work that is due and that no server does.
public struct WorkSelection: Sendable {
    /// In the order in which they are chosen.
    public var kinds: [WorkKind]
    /// The names of the apps; `nil` for all apps of the settings.
    public var apps: [String]?
    /// Leaves out what was scheduled later.
    public var since: Timestamp?
    public var limit: Int

    public init(_ kinds: [WorkKind], apps: [String]? = nil, since: Timestamp? = nil, limit: Int) {
        (self.kinds, self.apps, self.since, self.limit) = (kinds, apps, since, limit)
    }

    fileprivate func rows(_ reader: LedgerTransaction) throws(LedgerStorageError) -> [WorkRow] {
        let named = apps.map { $0.compactMap(reader.registry.app) } ?? reader.registry.apps
        let apps = named.filter { $0.moved == nil }.map(\.key)
        var rows: [WorkRow] = []
        for kind in kinds {
            rows += try WorkTable(connection: reader.connection).due(
                kind, apps, at: reader.now, leaseEnd: reader.now.leaseEnd(of: kind), since: since,
                limit: limit - rows.count)
        }
        return rows
    }
}

/// Counts work that is due and that no server does, up to the limit of the selection.
public struct DueWork: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var selection: WorkSelection

    public init(_ selection: WorkSelection) { self.selection = selection }

    public func answer(_ reader: LedgerTransaction) throws -> Int { try selection.rows(reader).count }
}

/// Leases work that is due, the longest overdue of each kind first.
public struct LeaseWork: LedgerOperation {
    public var selection: WorkSelection

    public init(_ selection: WorkSelection) { self.selection = selection }

    public var locks: LedgerLocks { .parts([.work]) }

    public func perform(_ transaction: LedgerTransaction) throws -> [LedgerWork] {
        var leased: [LedgerWork] = []
        for row in try selection.rows(transaction) {
            guard let work = try LedgerWork(row, transaction) else { continue }
            try WorkTable(connection: transaction.connection)
                .lease(row.key, until: transaction.now.leaseEnd(of: row.key.kind))
            leased.append(work)
        }
        return leased
    }
}

extension Timestamp {
    /// The end of the lease of one server.
    func leaseEnd(of kind: WorkKind) -> Timestamp { adding(milliseconds: kind.lease, times: 1) }
}

/// Records where work continues, and when.
public struct NoteWork: LedgerOperation {
    public var work: LedgerWork
    /// When it continues; `nil` if nothing is left.
    public var next: Timestamp?
    /// Whether the server that has the lease goes on with it now.
    public var isHeld: Bool

    /// The progress and attempts of the work as they are now.
    public init(_ work: LedgerWork, next: Timestamp?, isHeld: Bool = false) {
        (self.work, self.next, self.isHeld) = (work, next, isHeld)
    }

    public var locks: LedgerLocks { .parts([.work]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        let (key, table) = (try work.key(transaction), WorkTable(connection: transaction.connection))
        if work.kind.isOfEntry {
            // Without a row its outcome was recorded meanwhile.
            guard try table.row(key) != nil else { return }
            if next == nil { return try table.delete(key) }
        } else if try table.row(key) == nil {
            try table.schedule(key, at: transaction.now, since: transaction.now)
        }
        guard let row = try table.row(key) else { return }
        var next = next
        // What was scheduled while the work was done is still to be done, and work that goes on ends only at its end.
        if isHeld ? next == nil : row.scheduled != work.scheduled { next = row.nextAt }
        try table.note(
            key, progress: work.progress, attempts: Int64(work.attempts), next: next,
            leasedUntil: isHeld ? transaction.now.leaseEnd(of: work.kind) : nil)
    }
}

/// Adds work with an original or a bundle id, unless it is known.
public struct ScheduleWork: LedgerOperation {
    public var work: LedgerWork
    /// When it is done; `nil` for now.
    public var next: Timestamp?
    /// Whether work that is known is done at that time, too. Otherwise it keeps its own.
    public var isMoved: Bool

    public init(_ work: LedgerWork, at next: Timestamp? = nil, isMoved: Bool = false) {
        (self.work, self.next, self.isMoved) = (work, next, isMoved)
    }

    public var locks: LedgerLocks { .parts([.work]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        let (key, table) = (try work.key(transaction), WorkTable(connection: transaction.connection))
        if !isMoved, try table.row(key)?.nextAt != nil { return }
        try table.schedule(key, at: next ?? transaction.now, since: transaction.now)
    }
}

/// Makes all work of a kind due that waits for a later attempt, because the App Store answers again.
public struct RetryWorkNow: LedgerOperation {
    public var kind: WorkKind

    public init(_ kind: WorkKind) { self.kind = kind }

    public var locks: LedgerLocks { .parts([.work]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        try WorkTable(connection: transaction.connection).makeDue(kind, at: transaction.now)
    }
}

/// Schedules claims, refund requests and extensions that are open and that nothing works on, which happens only after a
/// row was lost or changed.
public struct AdoptWork: LedgerOperation {
    public init() {}

    public var locks: LedgerLocks { .parts([.work]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        try WorkTable(connection: transaction.connection).adopt(at: transaction.now)
    }
}

/// Counts the work of a kind that is left, up to a limit.
public struct CountWork: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var kind: WorkKind
    public var limit: Int

    /// Counts at most this much.
    public init(_ kind: WorkKind, limit: Int = 100_000) { (self.kind, self.limit) = (kind, limit) }

    public func answer(_ reader: LedgerTransaction) throws -> WaitingWork {
        try WorkTable(connection: reader.connection).waiting(kind, limit: limit)
    }
}
