import GRDB
import Synchronization

/// Group commit: one transaction takes all writes that wait. While it is flushed, the next ones gather.
///
/// Each write has a savepoint of its own, so one that fails leaves the others alone. No write is answered before the commit.
final class WriteQueue: Sendable {
    /// The most writes that share a transaction; with more, the first of them would wait long.
    private static let batchSize = 256

    private let pool: DatabasePool
    private let maximumWaiting: Int
    private let state = Mutex(State())

    private struct State {
        var waiting: [any WriteJob] = []
        var isDraining = false
        var isClosed = false
        var figures = WriterFigures()
        var schema: Int64?
        var onIdle: [CheckedContinuation<Void, Never>] = []
    }

    private enum Admission {
        case joined
        case first
        case refused(LedgerStorageError)
    }

    init(pool: DatabasePool, maximumWaiting: Int) {
        self.pool = pool
        self.maximumWaiting = maximumWaiting
    }

    var figures: WriterFigures { state.withLock { $0.figures } }

    func submit<Value: Sendable>(
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let job = Write(body: body, continuation: continuation)
            switch admit(job) {
            case .joined: break
            case .first: pool.asyncWriteWithoutTransaction { self.drain($0) }
            case .refused(let error): job.fail(error)
            }
        }
    }

    /// Makes each transaction check the schema's number first.
    func requireSchema(_ number: Int64) {
        state.withLock { $0.schema = number }
    }

    /// Refuses new writes, and returns when the waiting ones are answered.
    func close() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                state.isClosed = true
                if state.isDraining { state.onIdle.append(continuation) }
                return !state.isDraining
            }
            if isIdle { continuation.resume() }
        }
    }

    private func admit(_ job: any WriteJob) -> Admission {
        state.withLock { state in
            guard !state.isClosed else { return .refused(LedgerStorageError(.closed, "a write came after the close")) }
            guard state.waiting.count < maximumWaiting else {
                return .refused(LedgerStorageError(.overloaded, "\(maximumWaiting) writes are waiting"))
            }
            state.waiting.append(job)
            if state.isDraining { return .joined }
            state.isDraining = true
            return .first
        }
    }

    private func drain(_ database: Database) {
        while let batch = nextBatch() {
            commit(batch, database)
        }
    }

    private func nextBatch() -> [any WriteJob]? {
        let (batch, idle) = state.withLock { state -> ([any WriteJob], [CheckedContinuation<Void, Never>]) in
            let batch = Array(state.waiting.prefix(Self.batchSize))
            state.waiting.removeFirst(batch.count)
            guard batch.isEmpty else { return (batch, []) }
            state.isDraining = false
            defer { state.onIdle = [] }
            return ([], state.onIdle)
        }
        for continuation in idle { continuation.resume() }
        return batch.isEmpty ? nil : batch
    }

    private func commit(_ batch: [any WriteJob], _ database: Database) {
        let start = WriterFigures.threadTime()
        let statements = StatementCounter()
        var done: [any WriteJob] = []
        var failed: [(any WriteJob, any Error)] = []
        do {
            try database.execute(sql: "BEGIN IMMEDIATE")
            if let schema = state.withLock({ $0.schema }) {
                try SchemaNumber.require(schema, SQLiteConnection(database: database, counter: statements))
            }
            for job in batch {
                if let error = try perform(job, database, statements) { failed.append((job, error)) } else { done.append(job) }
            }
            try database.execute(sql: "COMMIT")
        } catch {
            rollBack(database)
            let cause = LedgerStorageError(sqlite: error)
            for job in batch { job.fail(cause) }
            return
        }
        let pages = WriterFigures.takePages(database)
        state.withLock { state in
            state.figures.transactions += 1
            state.figures.writes += done.count
            state.figures.statements += statements.count
            state.figures.pages += pages
            state.figures.processorTime += WriterFigures.threadTime() - start
        }
        for job in done { job.succeed() }
        for (job, error) in failed { job.fail(error) }
    }

    /// Performs one write of a transaction.
    ///
    /// - Returns: the error, if only this write failed.
    /// - Throws: an error that ended the whole transaction: on some, such as a full disk, SQLite rolls all of it back.
    private func perform(
        _ job: any WriteJob, _ database: Database, _ statements: StatementCounter
    ) throws -> (any Error)? {
        try database.execute(sql: "SAVEPOINT job")
        do {
            try job.perform(SQLiteConnection(database: database, counter: statements))
        } catch {
            guard database.isInsideTransaction else { throw error }
            try database.execute(sql: "ROLLBACK TO job")
            try database.execute(sql: "RELEASE job")
            return error
        }
        guard database.isInsideTransaction else {
            throw LedgerStorageError(.other, "a write ended the transaction")
        }
        try database.execute(sql: "RELEASE job")
        return nil
    }

    private func rollBack(_ database: Database) {
        guard database.isInsideTransaction else { return }
        do {
            try database.execute(sql: "ROLLBACK")
        } catch {
            // SQLite ends the transaction even if ROLLBACK reports an error (SQLite, "Transaction"). The first cause is
            // reported to the callers.
        }
    }
}

/// A waiting write.
private protocol WriteJob: AnyObject, Sendable {
    func perform(_ connection: any LedgerConnection) throws
    func succeed()
    func fail(_ error: any Error)
}

/// Unchecked because only the queue of the writing connection touches the value.
private final class Write<Value: Sendable>: WriteJob, @unchecked Sendable {
    private let body: @Sendable (any LedgerConnection) throws -> Value
    private let continuation: CheckedContinuation<Value, any Error>
    private var value: Value?

    init(
        body: @escaping @Sendable (any LedgerConnection) throws -> Value,
        continuation: CheckedContinuation<Value, any Error>
    ) {
        self.body = body
        self.continuation = continuation
    }

    func perform(_ connection: any LedgerConnection) throws {
        value = try body(connection)
    }

    func succeed() {
        guard let value else {
            fail(LedgerStorageError(.other, "a write was answered before it was performed"))
            return
        }
        continuation.resume(returning: value)
    }

    func fail(_ error: any Error) {
        continuation.resume(throwing: error)
    }
}
