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
