import Foundation

/// A PostgreSQL database that is accessed through libpq and can be shared by several servers.
///
/// Calls of libpq block, so they run on dedicated threads. Each thread has a connection, which it reopens if it is
/// lost. A write locks the parts of the ledger that it names (`LedgerLock`); waiting writes share a transaction.
public final class PostgreSQLDatabase: LedgerDatabase {
    private static let writers = 4
    private static let keyReaders = 2
    private static let listReaders = 2
    private static let confirmedReaders = 2
    /// Decisions recurse little, and the data that they read is on the heap.
    private static let stackBytes = 4 << 20

    private let queue: PostgreSQLWriteQueue
    private let keys: PostgreSQLReaders
    private let lists: PostgreSQLReaders
    private let confirmed: PostgreSQLReaders
    private let counters = PostgreSQLCounters()
    /// The group that is empty once every thread has ended.
    private let threads = DispatchGroup()

    /// What a start says about the version of the engine.
    package let remark: String?

    /// Opens a database.
    ///
    /// - Parameters:
    ///   - url: `postgres://…` or `postgresql://…` (PostgreSQL, "Connection URIs"). `PG…` variables have the effect
    ///     that libpq
    ///     documents. The parameter `assay_prepared_statements=off` is for pgbouncer, and
    ///     `assay_unsupported_engine=on` for an engine that is refused otherwise (`PostgreSQLEngine`).
    ///   - maximumWaiting: the maximum number of waiting writes; further writes are refused with `overloaded`.
    /// - Throws: `unavailable` if the server cannot be reached or refuses the connection, or if several schemas have a
    ///   ledger and the URL names none of them.
    public init(url: String, maximumWaiting: Int = 8192) throws {
        let settings = try PostgreSQLSettings(url)
        // Wrong settings should fail here, not in the first request.
        let session = try PostgreSQLSession(settings)
        remark = settings.checksEngine ? try PostgreSQLEngine.require(session, settings)?.remark : nil
        queue = PostgreSQLWriteQueue(maximumWaiting: maximumWaiting)
        keys = PostgreSQLReaders(settings, maximumWaiting: maximumWaiting)
        lists = PostgreSQLReaders(settings, maximumWaiting: maximumWaiting)
        confirmed = PostgreSQLReaders(settings, maximumWaiting: maximumWaiting, isConfirmed: true)
        for number in 0..<Self.writers {
            let writer = PostgreSQLWriter(number, queue, settings, counters)
            start("assay.ledger.writer") { writer.run() }
        }
        for (readers, count) in [
            (keys, Self.keyReaders), (lists, Self.listReaders), (confirmed, Self.confirmedReaders),
        ] {
            for _ in 0..<count { start("assay.ledger.reader") { readers.run() } }
        }
    }

    public var dialect: any LedgerDialect { PostgreSQLDialect() }

    public func read<Value: Sendable>(
        _ access: LedgerReadAccess, _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        let readers =
            switch access {
            case .keys, .statement: keys
            case .lists: lists
            case .confirmed: confirmed
            }
        return try await withCheckedThrowingContinuation { continuation in
            readers.submit(PostgreSQLRead(isStatement: access == .statement, body, continuation))
        }
    }

    public func write<Value: Sendable>(
        plan: @escaping @Sendable () -> LedgerWritePlan,
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { queue.submit(PostgreSQLWrite(plan(), body, $0)) }
    }

    public func requireSchema(_ number: Int64) { counters.require(schema: number) }

    public func close() async throws {
        queue.close()
        keys.close()
        lists.close()
        confirmed.close()
        await withCheckedContinuation { continuation in
            threads.notify(queue: .global()) { continuation.resume() }
        }
    }

    /// The number of transactions committed since the database was opened, and of the writes in them.
    public var commits: (transactions: Int, writes: Int) {
        (counters.figures.transactions, counters.figures.writes)
    }

    public var load: DatabaseLoad {
        var load = counters.load
        load.waiting = queue.waitingCount
        return load
    }

    /// Counters of the threads that write, since the database was opened.
    public var writerFigures: PostgreSQLWriterFigures { counters.figures }

    private func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        threads.enter()
        let thread = Thread { [threads] in
            body()
            threads.leave()
        }
        thread.name = name
        thread.stackSize = Self.stackBytes
        thread.start()
    }
}
