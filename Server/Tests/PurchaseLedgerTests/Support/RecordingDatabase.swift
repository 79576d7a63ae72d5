import PurchaseLedger
import Synchronization

/// A database that records every statement.
final class RecordingDatabase: LedgerDatabase {
    /// A statement with its parameters.
    typealias Call = (sql: String, parameters: [LedgerValue])

    let calls = Mutex<[Call]>([])
    private let database: SQLiteDatabase

    init(_ database: SQLiteDatabase) {
        self.database = database
    }

    var dialect: any LedgerDialect { database.dialect }

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

    func requireSchema(_ number: Int64) { database.requireSchema(number) }

    func close() async throws { try await database.close() }

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
