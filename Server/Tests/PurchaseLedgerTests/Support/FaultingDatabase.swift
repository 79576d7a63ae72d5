import PurchaseLedger
import Synchronization

/// A real database whose next writes fail as those of a server on another machine can.
final class FaultingDatabase: LedgerDatabase {
    /// The outcome of one write.
    enum Fault {
        /// Another write was first: nothing is written.
        case conflict
        /// The connection breaks during the commit, which is lost.
        case lostCommit
        /// The connection breaks during the commit, which is stored.
        case storedCommit
        /// The database cannot be reached.
        case unreachable
    }

    private struct RolledBack: Error {}

    private let database: any LedgerDatabase
    private let faults = Mutex<[Fault?]>([])
    /// The number of writes that were requested.
    let writes = Mutex(0)

    init(_ database: any LedgerDatabase) {
        self.database = database
    }

    /// Makes the next writes fail, one fault each; `nil` for a write that succeeds.
    func fail(_ next: [Fault?]) {
        faults.withLock { $0 = next }
        writes.withLock { $0 = 0 }
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
        writes.withLock { $0 += 1 }
        let fault = faults.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        switch fault {
        case nil: return try await database.write(plan: plan, body)
        case .unreachable: throw LedgerStorageError(.unavailable, "connection refused")
        case .storedCommit:
            _ = try await database.write(plan: plan, body)
            throw LedgerStorageError(.outcomeUnknown, "the connection was reset")
        case .conflict, .lostCommit:
            do {
                try await database.write(plan: plan) { connection in
                    _ = try body(connection)
                    throw RolledBack()
                }
            } catch is RolledBack {}
            throw LedgerStorageError(fault == .conflict ? .conflict : .outcomeUnknown, "the test says so")
        }
    }

    func requireSchema(_ number: Int64) { database.requireSchema(number) }

    func close() async throws { try await database.close() }
}
