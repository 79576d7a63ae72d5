import PurchaseLedger
import Synchronization

/// A real database that can be reached for some writes only, as if the process had been killed after them.
final class StoppingDatabase: LedgerDatabase {
    private let database: any LedgerDatabase
    private let left: Mutex<Int>

    init(_ database: any LedgerDatabase, writes: Int = .max) {
        self.database = database
        left = Mutex(writes)
    }

    /// Allows some more writes.
    func allow(_ writes: Int) {
        left.withLock { $0 = writes }
    }

    var dialect: any LedgerDialect { database.dialect }

    func read<Value: Sendable>(
        _ access: LedgerReadAccess, _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        try await database.read(access, body)
    }

    func write<Value: Sendable>(
        plan: @escaping @Sendable () -> LedgerWritePlan,
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        let isLeft = left.withLock { left in
            defer { left -= left > 0 ? 1 : 0 }
            return left > 0
        }
        guard isLeft else { throw LedgerStorageError(.unavailable, "the test stopped the database") }
        return try await database.write(plan: plan, body)
    }

    func requireSchema(_ number: Int64) { database.requireSchema(number) }

    func close() async throws { try await database.close() }
}
