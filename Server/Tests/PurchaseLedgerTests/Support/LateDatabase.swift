import Foundation
import PurchaseLedger
import Synchronization

/// A database whose transactions wait before they are committed, with their locks and numbers.
final class LateDatabase: LedgerDatabase {
    private let database: any LedgerDatabase
    /// Called on the writer's thread after the changes of a write, before its commit.
    private let beforeCommit: @Sendable () -> Void

    init(_ database: any LedgerDatabase, beforeCommit: @escaping @Sendable () -> Void) {
        (self.database, self.beforeCommit) = (database, beforeCommit)
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
        let beforeCommit = beforeCommit
        return try await database.write(plan: plan) { connection in
            let value = try body(connection)
            beforeCommit()
            return value
        }
    }

    func requireSchema(_ number: Int64) { database.requireSchema(number) }

    func close() async throws { try await database.close() }
}

/// Lets one write wait before its commit until it is released.
final class CommitGate: Sendable {
    private let state = Mutex<(isArmed: Bool, isReached: Bool)>((false, false))
    private let opening = DispatchSemaphore(value: 0)

    /// The next write waits.
    func arm() { state.withLock { $0 = (true, false) } }

    func pass() {
        let waits = state.withLock { state in
            guard state.isArmed else { return false }
            state = (false, true)
            return true
        }
        // A test that fails before it opens the gate must end.
        if waits { _ = opening.wait(timeout: .now() + 10) }
    }

    /// Returns once a write waits.
    func reached() async throws {
        while !state.withLock({ $0.isReached }) { try await Task.sleep(for: .milliseconds(2)) }
    }

    func open() { opening.signal() }
}
