import PurchaseVerification

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
