import Dispatch
import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// Group commit: one transaction takes all waiting writes. While it is flushed, the next ones gather.
///
/// A write that fails does not affect the others. No write is answered before the commit.
final class WriteQueue: Sendable {
    /// The maximum number of writes that share a transaction; with more, the first of them would wait too long.
    private static let batchSize = 256

    private let pool: DatabasePool
    private let maximumWaiting: Int
    private let answers = DispatchQueue(label: "assay.ledger.answers", qos: .userInitiated)
    private let walBound: WALBound
    /// They belong to the connection that writes; only its thread uses them.
    nonisolated(unsafe) private let statements = SQLiteStatements()
    private let state = Mutex(State())

    private struct State {
        var waiting: [any WriteJob] = []
        var isDraining = false
        var isClosed = false
        var figures = WriterFigures()
        var load = DatabaseLoad()
        /// The number of the schema that each write requires.
        var schema: Int64?
        var onIdle: [CheckedContinuation<Void, Never>] = []
    }

    private enum Admission {
        case joined
        case first
        case refused(LedgerStorageError)
    }

    init(pool: DatabasePool, maximumWaiting: Int, walBound: WALBound) {
        self.pool = pool
        self.maximumWaiting = maximumWaiting
        self.walBound = walBound
    }

    var figures: WriterFigures { state.withLock { $0.figures } }

    var load: DatabaseLoad {
        state.withLock { state in
            var load = state.load
            load.waiting = state.waiting.count
            return load
        }
    }

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

    /// Makes each transaction check the schema and the rules first.
    func requireSchema(_ number: Int64) {
        state.withLock { $0.schema = number }
    }

    /// Removes the prepared statements, on the thread of the connection that writes, before it is closed.
    func forgetStatements() { statements.removeAll() }

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
        await withCheckedContinuation { continuation in answers.async { continuation.resume() } }
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
        let connection = SQLiteConnection(database: database, statements: statements)
        var results: [(any Error)?]
        let commitSeconds: Double
        do {
            results = try perform(batch, connection, apart: false) ?? perform(batch, connection, apart: true) ?? []
            let time = CommitTime()
            try database.cachedStatement(sql: "COMMIT").execute()
            commitSeconds = time.seconds
        } catch {
            rollBack(database)
            let cause = LedgerStorageError(sqlite: error)
            for job in batch { job.fail(cause) }
            return
        }
        let pages = WriterFigures.takePages(database)
        let writes = results.count { $0 == nil }
        state.withLock { state in
            state.load.add(writes: writes, commitSeconds: commitSeconds)
            state.figures.transactions += 1
            state.figures.writes += writes
            state.figures.statements += connection.executed
            state.figures.pages += pages
            state.figures.processorTime += WriterFigures.threadTime() - start
        }
        // Waking the callers takes time that the next batch needs.
        answers.async { [results] in
            for (job, error) in zip(batch, results) {
                if let error { job.fail(error) } else { job.succeed() }
            }
        }
        walBound.enforce(database)
    }

    /// Begins a transaction and runs the writes of a batch in it.
    ///
    /// With a savepoint, SQLite copies each page before a write changes it, so at first the writes have none. If a
    /// write fails after it changed something, the transaction is rolled back, and all run again, each in a savepoint.
    /// Most failing writes have only read.
    ///
    /// - Parameter apart: whether each write has its own savepoint.
    /// - Returns: the error of each write that failed; `nil` if they must run again.
    /// - Throws: an error that ended the whole transaction: after some errors, such as a full disk, SQLite rolls all of
    ///   it back.
    private func perform(
        _ batch: [any WriteJob], _ connection: SQLiteConnection, apart: Bool
    ) throws -> [(any Error)?]? {
        let database = connection.database
        try database.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
        if let schema = state.withLock({ $0.schema }) { try SchemaNumber.require(schema, connection) }
        var results: [(any Error)?] = []
        for job in batch {
            let writes = connection.writes
            if apart { try connection.execute("SAVEPOINT job", []) }
            do {
                try job.perform(connection)
                results.append(nil)
            } catch {
                guard database.isInsideTransaction else { throw error }
                if apart {
                    try connection.execute("ROLLBACK TO job", [])
                } else if connection.writes != writes {
                    try database.execute(sql: "ROLLBACK")
                    return nil
                }
                results.append(error)
            }
            guard database.isInsideTransaction else {
                throw LedgerStorageError(.other, "a write ended the transaction")
            }
            if apart { try connection.execute("RELEASE job", []) }
        }
        return results
    }

    private func rollBack(_ database: Database) {
        guard database.isInsideTransaction else { return }
        do {
            try database.execute(sql: "ROLLBACK")
        } catch {
            // SQLite ends the transaction even if ROLLBACK reports an error (SQLite, "Transaction"). The callers get
            // the first cause.
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
            fail(LedgerStorageError(.other, "a write was answered before it ran"))
            return
        }
        continuation.resume(returning: value)
    }

    func fail(_ error: any Error) {
        continuation.resume(throwing: error)
    }
}

/// Counters of the connection that writes.
public struct WriterFigures: Sendable {
    /// The number of committed transactions.
    public var transactions = 0
    /// The number of writes in them.
    public var writes = 0
    /// The number of statements of the writes, without those that begin, end and divide transactions.
    public var statements = 0
    /// The number of pages written to the write-ahead log.
    public var pages = 0
    /// The processor time of the thread that writes, in seconds.
    public var processorTime = 0.0

    /// The processor time of this thread, in seconds.
    static func threadTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The pages that a connection has written since the last call.
    static func takePages(_ database: Database) -> Int {
        var (pages, highest): (CInt, CInt) = (0, 0)
        sqlite3_db_status(database.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &highest, 1)
        return Int(pages)
    }
}
