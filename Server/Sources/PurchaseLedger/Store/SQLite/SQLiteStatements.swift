import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// The prepared statements of one connection, found by their text. Only the thread of the connection uses it.
///
/// GRDB's own cache hashes the full text of a statement for each use.
final class SQLiteStatements {
    /// A statement, with its constant properties.
    struct Prepared {
        let handle: OpaquePointer
        let parameters: Int
        let isReadOnly: Bool
        /// Keeps the handle valid.
        let owner: Statement
    }

    /// Hashes only the length and the end of the text, in which statements differ.
    private struct Text: Hashable {
        let sql: String

        func hash(into hasher: inout Hasher) {
            var sql = sql
            sql.withUTF8 { bytes in
                hasher.combine(bytes.count)
                hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes).suffix(24)))
            }
        }
    }

    private var statements: [Text: Prepared] = [:]

    /// The statement with a text of this program, prepared on first use.
    func prepared(_ sql: String, _ database: Database) throws(LedgerStorageError) -> Prepared {
        if let known = statements[Text(sql: sql)] { return known }
        let statement: Statement
        do {
            statement = try database.cachedStatement(sql: sql)
        } catch {
            throw LedgerStorageError(sqlite: error)
        }
        let handle = statement.sqliteStatement
        let prepared = Prepared(
            handle: handle, parameters: Int(sqlite3_bind_parameter_count(handle)),
            isReadOnly: sqlite3_stmt_readonly(handle) != 0, owner: statement)
        // Few statements are composed at run time, so the number of texts is limited.
        statements[Text(sql: sql)] = prepared
        return prepared
    }

    /// Removes all statements; a connection cannot be closed while it has some.
    func removeAll() { statements.removeAll() }
}

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
