import CPostgreSQL
import Foundation

/// One connection to a PostgreSQL server. Only one thread at a time may use it, and its calls block that thread.
///
/// It is in pipeline mode: statements are sent together and their results are read together, in one round trip.
final class PostgreSQLSession {
    /// The limit for prepared statements: those with lists of values have many texts, so not all of them are kept
    /// prepared.
    private static let maximumPrepared = 512

    /// Other statements are not prepared.
    private static let preparable = ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"]

    /// How long a server may say nothing before another connection shows whether it was replaced, in milliseconds.
    private static let silence: Int32 = 5000

    private let connection: OpaquePointer
    private let preparesStatements: Bool
    /// The keywords and values of the connection.
    private let parameters: [(String, String)]
    /// Whether a commit did not wait for the standby, because somebody cancelled the wait.
    private let isUnconfirmed: UnsafeMutablePointer<Bool>
    /// Whether the server is not the primary any more, or may have answered what the standby does not have.
    private var isAbandoned = false
    private var prepared: [String: String] = [:]
    private var names = 0
    /// The number of times that statements were sent and their results awaited.
    private(set) var roundTrips = 0
    /// The number of statements that were sent.
    private(set) var statements = 0
    /// The insertions that it has sent.
    let insertions = PostgreSQLInsertions()
    /// The statements with which each transaction sets its search path; none if the connection has it.
    private(set) var searchPath: [PostgreSQLStatement] = []

    /// The result of one statement.
    struct Output {
        var rows: [LedgerRow] = []
        /// The number of rows that it inserted, changed or deleted.
        var changes = 0
        /// The executed command, such as `COMMIT`.
        var command = ""
    }

    /// Connects.
    ///
    /// - Parameter isWriter: whether its statements find rows by keys, so that each needs only one plan.
    /// - Throws: `unavailable`; the error of a query for the ledger's schema.
    init(_ settings: PostgreSQLSettings, isWriter: Bool = false) throws(LedgerStorageError) {
        let parameters = settings.parameters(isWriter: isWriter)
        guard let connection = Self.connect(parameters) else {
            throw LedgerStorageError(.unavailable, "there is no memory for a connection")
        }
        guard PQstatus(connection) == CONNECTION_OK else {
            var message = Self.message(connection)
            PQfinish(connection)
            // pgbouncer takes no options.
            if message.contains("unsupported startup parameter") {
                message += "; add assay_prepared_statements=off to the database's URL"
            }
            throw LedgerStorageError(.unavailable, message)
        }
        let encoding = PQparameterStatus(connection, "server_encoding").map { String(cString: $0) } ?? "unknown"
        guard encoding == "UTF8", PQenterPipelineMode(connection) == 1 else {
            PQfinish(connection)
            throw LedgerStorageError(
                .unavailable, "the encoding of the database is \(encoding); create it with ENCODING 'UTF8'")
        }
        self.connection = connection
        self.parameters = parameters
        preparesStatements = settings.preparesStatements
        isUnconfirmed = .allocate(capacity: 1)
        isUnconfirmed.initialize(to: false)
        // Other notices would be written to standard error without a receiver.
        let receiver: PQnoticeReceiver = { mark, warning in
            guard let function = PQresultErrorField(warning, Int32(UInt8(ascii: "R"))) else { return }
            if strcmp(function, "SyncRepWaitForLSN") == 0 { mark?.storeBytes(of: true, as: Bool.self) }
        }
        PQsetNoticeReceiver(connection, receiver, isUnconfirmed)
        let path = try settings.home.path(self)
        if preparesStatements {
            _ = try run([PostgreSQLStatement("SET search_path = \(path)", [LedgerValue]())])
        } else {
            searchPath = [PostgreSQLStatement("SET LOCAL search_path = \(path)", [LedgerValue]())]
        }
    }

    deinit {
        PQfinish(connection)
        isUnconfirmed.deallocate()
    }

    private static func connect(_ parameters: [(String, String)]) -> OpaquePointer? {
        withCStrings(parameters.map(\.0)) { keywords in
            withCStrings(parameters.map(\.1)) { values in PQconnectdbParams(keywords, values, 1) }
        }
    }

    /// Whether the connection is lost.
    var isLost: Bool { isAbandoned || PQstatus(connection) != CONNECTION_OK }

    /// Whether a transaction is open on the server, even a failed one.
    var isInTransaction: Bool {
        let status = PQtransactionStatus(connection)
        return status == PQTRANS_INTRANS || status == PQTRANS_INERROR
    }

    /// Executes statements in one round trip. The statements after a failed one are not executed.
    ///
    /// - Returns: the result of each.
    /// - Throws: the error of the first failed statement; `unavailable` if the connection is lost.
    func run(_ statements: [PostgreSQLStatement]) throws(LedgerStorageError) -> [Output] {
        let (outputs, failure) = try runAll(statements)
        if let failure { throw failure }
        return outputs
    }

    /// Executes statements in one round trip. The statements after a failed one are not executed.
    ///
    /// - Returns: the result of each, and the error of the first failed statement.
    /// - Throws: `unavailable` if the connection is lost.
    func runAll(
        _ statements: [PostgreSQLStatement]
    ) throws(LedgerStorageError) -> (outputs: [Output], failure: LedgerStorageError?) {
        roundTrips += 1
        self.statements += statements.count
        var steps: [Step] = []
        steps.reserveCapacity(statements.count)
        for statement in statements { try send(statement, &steps) }
        guard PQpipelineSync(connection) == 1 else { throw lost() }
        let answer = try outputs(of: steps)
        // It connected to a primary, which is a standby now.
        if answer.failure?.kind == .readOnly { isAbandoned = true }
        guard isUnconfirmed.pointee else { return answer }
        isAbandoned = true
        throw LedgerStorageError(.unavailable, "somebody cancelled the wait of a commit for the standby")
    }

    // MARK: Sending

    /// A command that was sent.
    private enum Step {
        case preparation(sql: String, name: String)
        case execution
    }

    private func send(_ statement: PostgreSQLStatement, _ steps: inout [Step]) throws(LedgerStorageError) {
        let values = PostgreSQLValues(statement.parameters)
        guard let name = try prepare(statement.sql, values, &steps) else {
            guard
                values.send({ PQsendQueryParams(connection, PostgreSQLText.sql(statement.sql), $0, $1, $2, $3, $4, 1) })
            else { throw lost() }
            steps.append(.execution)
            return
        }
        guard
            values.send({ count, _, pointers, lengths, formats in
                PQsendQueryPrepared(connection, name, count, pointers, lengths, formats, 1)
            })
        else { throw lost() }
        steps.append(.execution)
    }

    /// The name of a prepared statement; `nil` if statements are not prepared.
    private func prepare(
        _ sql: String, _ values: PostgreSQLValues, _ steps: inout [Step]
    ) throws(LedgerStorageError) -> String? {
        guard preparesStatements else { return nil }
        if let name = prepared[sql] { return name }
        guard Self.preparable.contains(where: { sql.hasPrefix($0) }) else { return nil }
        for case .preparation(let known, let name) in steps where known == sql { return name }
        guard prepared.count + steps.count < Self.maximumPrepared else { return nil }
        names += 1
        let name = "assay_\(names)"
        let isSent = values.types.withUnsafeBufferPointer { types in
            PQsendPrepare(connection, name, PostgreSQLText.sql(sql), Int32(types.count), types.baseAddress)
        }
        guard isSent == 1 else { throw lost() }
        steps.append(.preparation(sql: sql, name: name))
        return name
    }

    // MARK: Receiving

    private func outputs(
        of steps: [Step]
    ) throws(LedgerStorageError) -> (outputs: [Output], failure: LedgerStorageError?) {
        var outputs: [Output] = []
        var failure: LedgerStorageError?
        for step in steps {
            var output = Output()
            while let result = try nextResult() {
                defer { PQclear(result) }
                switch PQresultStatus(result) {
                case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
                    if case .preparation(let sql, let name) = step { prepared[sql] = name }
                    if failure == nil { output = Self.output(result) }
                case PGRES_PIPELINE_ABORTED: break
                default: if failure == nil { failure = LedgerStorageError(postgreSQL: result) }
                }
            }
            if isLost { throw failure.map { Self.isShutdown($0) ? $0 : lost() } ?? lost() }
            if case .execution = step { outputs.append(output) }
        }
        try finishPipeline()
        return (outputs, failure)
    }

    /// Reads the end of the round trip.
    private func finishPipeline() throws(LedgerStorageError) {
        while true {
            guard let result = try nextResult() else {
                if isLost { throw lost() }
                continue
            }
            let status = PQresultStatus(result)
            PQclear(result)
            if status == PGRES_PIPELINE_SYNC { return }
            if isLost { throw lost() }
        }
    }

    /// The next result. A server whose machine is stopped or cut off keeps its connections open, so while it says
    /// nothing, the URL is asked where the primary is.
    private func nextResult() throws(LedgerStorageError) -> OpaquePointer? {
        while PQstatus(connection) == CONNECTION_OK, PQisBusy(connection) == 1 {
            var socket = pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
            if poll(&socket, 1, Self.silence) != 0 {
                guard PQconsumeInput(connection) == 1 else { break }
            } else if isReplaced() {
                isAbandoned = true
                throw LedgerStorageError(.unavailable, "the server says nothing, and another one is the primary")
            }
        }
        return PQgetResult(connection)
    }

    private func isReplaced() -> Bool {
        guard let other = Self.connect(parameters) else { return false }
        defer { PQfinish(other) }
        guard PQstatus(other) == CONNECTION_OK else { return false }
        return [PQhost, PQhostaddr, PQport].contains { place in
            place(other).map { String(cString: $0) } != place(connection).map { String(cString: $0) }
        }
    }

    private static func isShutdown(_ error: LedgerStorageError) -> Bool { error.kind == .unavailable }

    private static func output(_ result: OpaquePointer) -> Output {
        var output = Output()
        output.changes = PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
        output.command = PQcmdStatus(result).map { String(cString: $0) } ?? ""
        let (rows, columns) = (PQntuples(result), PQnfields(result))
        guard columns > 0 else { return output }
        output.rows.reserveCapacity(Int(rows))
        for row in 0..<rows {
            var values: [LedgerValue] = []
            values.reserveCapacity(Int(columns))
            for column in 0..<columns { values.append(PostgreSQLValues.value(result, row, column)) }
            output.rows.append(LedgerRow(values: values))
        }
        return output
    }

    private func lost() -> LedgerStorageError { LedgerStorageError(.unavailable, Self.message(connection)) }

    private static func message(_ connection: OpaquePointer) -> String {
        let text = PQerrorMessage(connection).map { String(cString: $0) } ?? "no message"
        return text.split(separator: "\n").map { $0.trimmingPrefix(while: \.isWhitespace) }.joined(separator: "; ")
    }

    private static func withCStrings<Value>(
        _ strings: [String], _ body: ([UnsafePointer<CChar>?]) -> Value
    ) -> Value {
        var bytes: [CChar] = []
        var offsets: [Int] = []
        for string in strings {
            offsets.append(bytes.count)
            bytes += string.utf8CString
        }
        return bytes.withUnsafeBufferPointer { buffer in
            body(offsets.map { offset in buffer.baseAddress.map { $0 + offset } } + [nil])
        }
    }
}
