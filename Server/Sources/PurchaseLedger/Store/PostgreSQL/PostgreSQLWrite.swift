/// A waiting write.
protocol PostgreSQLWriteJob: AnyObject, Sendable {
    /// The parts that it reads and changes.
    var locks: LedgerLocks { get }
    /// Adds parts that it turned out to need.
    ///
    /// - Returns: whether it may be tried with them.
    func add(_ parts: Set<LedgerLock>) -> Bool
    func perform(_ connection: any LedgerConnection) throws
    func succeed()
    func fail(_ error: any Error)
}

/// Unchecked because only one thread at a time touches a job: the one that submits it, and then the writer that took it.
final class PostgreSQLWrite<Value: Sendable>: PostgreSQLWriteJob, @unchecked Sendable {
    /// A write needs more parts once or twice, when it finds who owns what.
    private static var maximumAdditions: Int { 8 }

    private(set) var locks: LedgerLocks
    private let body: @Sendable (any LedgerConnection) throws -> Value
    private let continuation: CheckedContinuation<Value, any Error>
    private var value: Value?
    private var additions = 0

    init(
        _ locks: LedgerLocks, _ body: @escaping @Sendable (any LedgerConnection) throws -> Value,
        _ continuation: CheckedContinuation<Value, any Error>
    ) {
        self.locks = locks
        self.body = body
        self.continuation = continuation
    }

    func add(_ parts: Set<LedgerLock>) -> Bool {
        guard case .parts(let named) = locks, additions < Self.maximumAdditions else { return false }
        additions += 1
        locks = .parts(named.union(parts))
        return true
    }

    func perform(_ connection: any LedgerConnection) throws { value = try body(connection) }

    func succeed() {
        guard let value else {
            fail(LedgerStorageError(.other, "a write was answered before it was performed"))
            return
        }
        continuation.resume(returning: value)
    }

    func fail(_ error: any Error) { continuation.resume(throwing: error) }
}
