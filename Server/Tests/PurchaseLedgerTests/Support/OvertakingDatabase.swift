import PurchaseLedger
import Synchronization

/// A database to which another server writes just before a transaction that reads.
final class OvertakingDatabase: LedgerDatabase {
    private let database: any LedgerDatabase
    private let act = Mutex<(next: (@Sendable () async throws -> Void)?, isUsed: Bool)>((nil, false))

    init(_ database: any LedgerDatabase) {
        self.database = database
    }

    /// Sets what is written before the next transaction; only the first call counts.
    func overtake(_ body: @escaping @Sendable () async throws -> Void) {
        act.withLock { act in
            guard !act.isUsed else { return }
            act = (body, true)
        }
    }

    var dialect: any LedgerDialect { database.dialect }

    func read<Value: Sendable>(
        _ access: LedgerReadAccess, _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        let overtaking = act.withLock { act in
            defer { act.next = nil }
            return act.next
        }
        try await overtaking?()
        return try await database.read(access, body)
    }

    func write<Value: Sendable>(
        plan: @escaping @Sendable () -> LedgerWritePlan,
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        try await database.write(plan: plan, body)
    }

    func requireSchema(_ number: Int64) { database.requireSchema(number) }

    func close() async throws { try await database.close() }
}
