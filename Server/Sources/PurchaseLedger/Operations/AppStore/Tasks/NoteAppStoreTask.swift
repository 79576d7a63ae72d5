public import PurchaseVerification

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
