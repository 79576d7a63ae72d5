import Foundation
import GRDB
import Synchronization

/// A connection for reads of a single statement.
///
/// Each of them takes some microseconds, and so does the way to another thread and back. So the reads that wait run one
/// after the other in one visit of the thread, on a connection that nothing else uses.
final class SQLiteStatementReader: Sendable {
    private typealias Read = @Sendable (any LedgerConnection) -> Void

    private let connection: DatabaseQueue
    private let thread: DispatchQueue
    private let waiting = Mutex(Waiting())
    /// Only the thread of the connection uses it.
    nonisolated(unsafe) private let statements = SQLiteStatements()

    private struct Waiting {
        var reads: [Read] = []
        /// Whether the thread will look for reads again.
        var isDraining = false
    }

    init(path: String, configuration: Configuration, label: String) throws {
        connection = try DatabaseQueue(path: path, configuration: configuration)
        thread = DispatchQueue(label: label)
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            add { connection in continuation.resume(with: Result { try body(connection) }) }
        }
    }

    func close() throws {
        // A connection cannot be closed while it has statements.
        connection.inDatabase { _ in statements.removeAll() }
        try connection.close()
    }

    private func add(_ read: @escaping Read) {
        let isIdle = waiting.withLock { waiting in
            waiting.reads.append(read)
            defer { waiting.isDraining = true }
            return !waiting.isDraining
        }
        if isIdle { thread.async { self.drain() } }
    }

    private func drain() {
        while true {
            let reads = waiting.withLock { waiting in
                defer { waiting.reads = [] }
                waiting.isDraining = !waiting.reads.isEmpty
                return waiting.reads
            }
            guard !reads.isEmpty else { return }
            connection.inDatabase { database in
                let connection = SQLiteConnection(database: database, statements: statements)
                for read in reads { read(connection) }
            }
        }
    }
}
