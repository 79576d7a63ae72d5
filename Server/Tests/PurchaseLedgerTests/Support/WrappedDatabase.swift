import Foundation
import PurchaseLedger
import Synchronization

/// A database in front of another one, to which it passes what it does not change.
protocol WrappedDatabase: LedgerDatabase {
    var database: any LedgerDatabase { get }
}

extension WrappedDatabase {
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
        try await database.write(plan: plan, body)
    }

    func requireSchema(_ number: Int64) { database.requireSchema(number) }

    func close() async throws { try await database.close() }
}

/// A real database whose next writes fail as those of a server on another machine can.
final class FaultingDatabase: WrappedDatabase {
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

    let database: any LedgerDatabase
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
}

/// A database whose transactions wait before they are committed, with their locks and numbers.
final class LateDatabase: WrappedDatabase {
    let database: any LedgerDatabase
    /// Called on the writer's thread after the changes of a write, before its commit.
    private let beforeCommit: @Sendable () -> Void

    init(_ database: any LedgerDatabase, beforeCommit: @escaping @Sendable () -> Void) {
        (self.database, self.beforeCommit) = (database, beforeCommit)
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

/// A database to which another server writes just before the first transaction that reads under a condition.
final class OvertakingDatabase: WrappedDatabase {
    let database: any LedgerDatabase
    private let condition: @Sendable () -> Bool
    private let act: @Sendable () async throws -> Void
    private let isOvertaken = Mutex(false)

    init(
        _ database: any LedgerDatabase, when condition: @escaping @Sendable () -> Bool,
        by act: @escaping @Sendable () async throws -> Void
    ) {
        (self.database, self.condition, self.act) = (database, condition, act)
    }

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
}

/// A database that records every statement.
final class RecordingDatabase: WrappedDatabase {
    /// A statement with its parameters.
    typealias Call = (sql: String, parameters: [LedgerValue])

    let calls = Mutex<[Call]>([])
    let database: any LedgerDatabase

    init(_ database: SQLiteDatabase) {
        self.database = database
    }

    func read<Value: Sendable>(
        _ access: LedgerReadAccess, _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        try await database.read(access) { try body(Connection(recorder: self, connection: $0)) }
    }

    func write<Value: Sendable>(
        plan: @escaping @Sendable () -> LedgerWritePlan,
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        try await database.write(plan: plan) { try body(Connection(recorder: self, connection: $0)) }
    }

    /// The statements since they were last taken.
    func take() -> [String] { takeCalls().map(\.sql) }

    /// The statements since they were last taken, with their parameters.
    func takeCalls() -> [Call] {
        calls.withLock { calls in
            defer { calls = [] }
            return calls
        }
    }

    private struct Connection: LedgerConnection {
        let recorder: RecordingDatabase
        let connection: any LedgerConnection

        func execute(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> Int {
            recorder.calls.withLock { $0.append((sql, parameters)) }
            return try connection.execute(sql, parameters)
        }

        func rows(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> [LedgerRow] {
            recorder.calls.withLock { $0.append((sql, parameters)) }
            return try connection.rows(sql, parameters)
        }
    }
}
