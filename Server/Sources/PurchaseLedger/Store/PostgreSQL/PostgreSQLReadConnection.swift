import Foundation

/// A PostgreSQL connection that reads, inside a transaction or with a single statement. Only the thread of its session
/// uses it.
final class PostgreSQLReadConnection: LedgerConnection {
    private let session: PostgreSQLSession
    private let hasTransaction: Bool
    private let isConfirmed: Bool
    private var isBegun = false

    /// - Parameters:
    ///   - isStatement: whether its only statement needs no transaction, and so no second round trip.
    ///   - isConfirmed: whether the transaction ends with `confirm`.
    init(_ session: PostgreSQLSession, isStatement: Bool = false, isConfirmed: Bool = false) {
        self.session = session
        self.isConfirmed = isConfirmed
        // Without a search path of the connection, each transaction sets it.
        hasTransaction = !isStatement || !session.searchPath.isEmpty
    }

    @discardableResult
    func execute(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> Int {
        try output(of: sql, parameters)?.changes ?? 0
    }

    func rows(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> [LedgerRow] {
        try output(of: sql, parameters)?.rows ?? []
    }

    /// The transaction begins with its first statement.
    private func output(
        of sql: String, _ parameters: [LedgerValue]
    ) throws(LedgerStorageError) -> PostgreSQLSession.Output? {
        var statements = [PostgreSQLStatement(sql, parameters)]
        if hasTransaction, !isBegun {
            isBegun = true
            let isolation = "BEGIN ISOLATION LEVEL REPEATABLE READ" + (isConfirmed ? "" : " READ ONLY")
            let begin = PostgreSQLStatement(isolation, [LedgerValue]())
            statements = [begin] + session.searchPath + statements
        }
        return try session.run(statements).last
    }

    /// Commits what the standby must have before what was read is used.
    func confirm() throws(LedgerStorageError) {
        guard isBegun, !session.isLost else { return }
        _ = try session.run([.confirmation, PostgreSQLStatement("COMMIT", [LedgerValue]())])
    }

    /// Ends the transaction.
    func end() {
        guard !session.isLost, session.isInTransaction else { return }
        do throws(LedgerStorageError) {
            _ = try session.run([PostgreSQLStatement("ROLLBACK", [LedgerValue]())])
        } catch {
            // The connection is lost, which also ends the transaction. The next user of the session notices.
        }
    }

    func settledEvent() throws(LedgerStorageError) -> Int64? { try settled(.events) }

    func settledEntry() throws(LedgerStorageError) -> Int64? { try settled(.entries) }

    private func settled(_ mark: PostgreSQLMark) throws(LedgerStorageError) -> Int64? {
        guard !isBegun else {
            throw LedgerStorageError(.other, "events and entries are read at the beginning of a transaction that reads")
        }
        // Each query is a transaction of its own, unless the search path must be set.
        let path = session.searchPath
        guard !path.isEmpty else { return try PostgreSQLMark.settled(try session.run(mark.queries)) }
        let begin = [PostgreSQLStatement("BEGIN ISOLATION LEVEL READ COMMITTED", [LedgerValue]())] + path
        let outputs = try session.run(
            begin + mark.queries + [PostgreSQLStatement("ROLLBACK", [LedgerValue]())])
        return try PostgreSQLMark.settled(outputs.dropFirst(begin.count).dropLast())
    }
}

/// Unchecked because only one thread at a time touches a job: the one that submits it, and then the reader that took
/// it.
final class PostgreSQLRead<Value: Sendable>: PostgreSQLReadJob, @unchecked Sendable {
    let isStatement: Bool
    private let body: @Sendable (any LedgerConnection) throws -> Value
    private let continuation: CheckedContinuation<Value, any Error>
    private var value: Value?

    init(
        isStatement: Bool, _ body: @escaping @Sendable (any LedgerConnection) throws -> Value,
        _ continuation: CheckedContinuation<Value, any Error>
    ) {
        self.isStatement = isStatement
        self.body = body
        self.continuation = continuation
    }

    func perform(_ connection: any LedgerConnection) throws { value = try body(connection) }

    func succeed() {
        guard let value else {
            return fail(LedgerStorageError(.other, "a read was answered before it ran"))
        }
        continuation.resume(returning: value)
    }

    func fail(_ error: any Error) { continuation.resume(throwing: error) }
}

/// A waiting read.
protocol PostgreSQLReadJob: AnyObject, Sendable {
    /// Whether it is a single statement, which needs no transaction.
    var isStatement: Bool { get }
    func perform(_ connection: any LedgerConnection) throws
    func succeed()
    func fail(_ error: any Error)
}
