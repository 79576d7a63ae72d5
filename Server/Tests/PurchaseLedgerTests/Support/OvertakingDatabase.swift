import PurchaseLedger
import Synchronization

/// A database to which another server writes just before the first transaction that reads under a condition.
final class OvertakingDatabase: LedgerDatabase {
    private let database: any LedgerDatabase
    private let condition: @Sendable () -> Bool
    private let act: @Sendable () async throws -> Void
    private let isOvertaken = Mutex(false)

    init(
        _ database: any LedgerDatabase, when condition: @escaping @Sendable () -> Bool,
        by act: @escaping @Sendable () async throws -> Void
    ) {
        (self.database, self.condition, self.act) = (database, condition, act)
    }

    var dialect: any LedgerDialect { database.dialect }

    func read<Value: Sendable>(
        _ access: LedgerReadAccess, _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        let isOvertaking = isOvertaken.withLock { isOvertaken in
            guard !isOvertaken, condition() else { return false }
            isOvertaken = true
            return true
        }
        if isOvertaking { try await act() }
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
