import Foundation

/// The writes that wait for a connection.
///
/// Each writer takes a batch of writes that touch different parts than the batches of the other writers, so that a
/// writer does not wait on the server for another one of the same process.
final class PostgreSQLWriteQueue: @unchecked Sendable {
    /// The maximum number of writes that share a transaction. A transaction with more than 64 savepoints slows down all
    /// others.
    private static let batchSize = 32
    /// The number of writes that are taken at once, without waiting for more to join them.
    private static let enough = 24
    /// How long a write waits for others to join it, in seconds: as long as a transaction of purchases takes.
    private static let patience = 0.004
    /// The number of waiting writes that a writer examines to find those that it can take.
    private static let lookahead = 512

    // Unchecked because every property is read and written under the condition's lock.
    private let condition = NSCondition()
    private var waiting: [(job: any PostgreSQLWriteJob, since: Date)] = []
    private var running: [Int: LedgerLocks] = [:]
    private var isClosed = false
    private let maximumWaiting: Int

    init(maximumWaiting: Int) {
        self.maximumWaiting = maximumWaiting
    }

    /// The number of writes that wait for a transaction.
    var waitingCount: Int {
        condition.lock()
        defer { condition.unlock() }
        return waiting.count
    }

    /// Adds a write.
    func submit(_ job: any PostgreSQLWriteJob) {
        condition.lock()
        let refusal: LedgerStorageError?
        if isClosed {
            refusal = LedgerStorageError(.closed, "a write came after the close")
        } else if waiting.count >= maximumWaiting {
            refusal = LedgerStorageError(.overloaded, "\(maximumWaiting) writes are waiting")
        } else {
            refusal = nil
            waiting.append((job, Date()))
            // A writer that was woken by the first write waits for the others.
            if waiting.count == 1 || running.isEmpty || waiting.count >= Self.enough { condition.signal() }
        }
        condition.unlock()
        if let refusal { job.fail(refusal) }
    }

    /// Takes the writes of one transaction, and waits until there are some.
    ///
    /// - Parameter writer: the number of the writer, whose last batch has ended.
    /// - Returns: `nil` once the queue is closed and empty.
    func take(writer: Int) -> [any PostgreSQLWriteJob]? {
        condition.lock()
        defer { condition.unlock() }
        running[writer] = nil
        condition.broadcast()
        while true {
            let places = select()
            if let first = places.first {
                // A shared transaction costs less than separate ones, so writes gather while another writer is busy.
                let end = waiting[first].since + Self.patience
                if isClosed || running.isEmpty || places.count >= Self.enough || end <= Date() {
                    let batch = places.map { waiting[$0].job }
                    for place in places.reversed() { waiting.remove(at: place) }
                    running[writer] = Self.union(batch)
                    return batch
                }
                _ = condition.wait(until: end)
                continue
            }
            if isClosed, waiting.isEmpty { return nil }
            condition.wait()
        }
    }

    /// Puts writes that need more locks back at the head of the queue.
    func putBack(_ jobs: [any PostgreSQLWriteJob]) {
        condition.lock()
        waiting.insert(contentsOf: jobs.map { ($0, .distantPast) }, at: 0)
        condition.signal()
        condition.unlock()
    }

    /// Refuses new writes. Waiting writes are still performed.
    func close() {
        condition.lock()
        isClosed = true
        condition.broadcast()
        condition.unlock()
    }

    /// The positions of the writes that a writer can take.
    private func select() -> [Int] {
        var busy: Set<LedgerLock> = []
        for locks in running.values {
            guard case .parts(let parts) = locks else { return [] }
            busy.formUnion(parts)
        }
        var taken: [Int] = []
        var locks = 0
        for (place, (job, _)) in waiting.prefix(Self.lookahead).enumerated() {
            guard case .parts(let parts) = job.plan.locks else {
                // It runs alone, after all earlier writes.
                if place == 0, running.isEmpty { taken = [0] }
                break
            }
            // A write that must wait keeps its place before later writes of the same parts.
            guard parts.isDisjoint(with: busy) else {
                busy.formUnion(parts)
                continue
            }
            guard taken.isEmpty || locks + parts.count <= LedgerLocks.limit else {
                busy.formUnion(parts)
                continue
            }
            locks += parts.count
            taken.append(place)
            if taken.count == Self.batchSize { break }
        }
        return taken
    }

    /// All parts that a batch reads and changes.
    static func union(_ batch: [any PostgreSQLWriteJob]) -> LedgerLocks {
        var union: Set<LedgerLock> = []
        for job in batch {
            guard case .parts(let parts) = job.plan.locks else { return .everything }
            union.formUnion(parts)
        }
        return .parts(union)
    }
}

/// Unchecked because only one thread at a time touches a job: the one that submits it, and then the writer that took
/// it.
final class PostgreSQLWrite<Value: Sendable>: PostgreSQLWriteJob, @unchecked Sendable {
    private(set) var plan: LedgerWritePlan
    private let body: @Sendable (any LedgerConnection) throws -> Value
    private let continuation: CheckedContinuation<Value, any Error>
    private var value: Value?

    init(
        _ plan: LedgerWritePlan, _ body: @escaping @Sendable (any LedgerConnection) throws -> Value,
        _ continuation: CheckedContinuation<Value, any Error>
    ) {
        self.plan = plan
        self.plan.locks = plan.locks.bounded
        self.body = body
        self.continuation = continuation
    }

    func add(_ parts: Set<LedgerLock>) -> Bool {
        // Every addition names a new part, and a write concerns a finite number of them, so the attempts end.
        guard case .parts(let named) = plan.locks, !parts.isSubset(of: named) else { return false }
        plan.locks = LedgerLocks.parts(named.union(parts)).bounded
        return true
    }

    func add(_ needs: LedgerNeeds) {
        plan.reads += needs.reads
        plan.insertions.merge(needs.insertions, uniquingKeysWith: +)
    }

    func perform(_ connection: any LedgerConnection) throws { value = try body(connection) }

    func succeed() {
        guard let value else {
            fail(LedgerStorageError(.other, "a write was answered before it ran"))
            return
        }
        continuation.resume(returning: value)
    }

    func fail(_ error: any Error) { continuation.resume(throwing: error) }
}

/// A waiting write.
protocol PostgreSQLWriteJob: AnyObject, Sendable {
    var plan: LedgerWritePlan { get }
    /// Adds parts that it turned out to need.
    ///
    /// - Returns: whether it may be tried with them.
    func add(_ parts: Set<LedgerLock>) -> Bool
    /// Adds rows that it turned out to need, so that another transaction loads them at once.
    func add(_ needs: LedgerNeeds)
    func perform(_ connection: any LedgerConnection) throws
    func succeed()
    func fail(_ error: any Error)
}

extension PostgreSQLWriteJob {
    /// Whether it uses prefetched rows.
    var isPlanned: Bool {
        guard case .parts = plan.locks else { return false }
        return !plan.reads.isEmpty
    }
}
