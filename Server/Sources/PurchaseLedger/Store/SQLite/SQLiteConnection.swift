import GRDB
import GRDBSQLite

/// A SQLite connection inside a transaction.
///
/// Statements are prepared once per connection. Values are passed through SQLite's C interface, without a box or a copy
/// for each.
final class SQLiteConnection: LedgerConnection {
    let database: Database
    private let statements: SQLiteStatements
    /// The number of statements that were executed.
    private(set) var executed = 0
    /// The number of those that can change the database.
    private(set) var writes = 0

    init(database: Database, statements: SQLiteStatements = SQLiteStatements()) {
        self.database = database
        self.statements = statements
    }

    @discardableResult
    func execute(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> Int {
        let statement = try prepared(sql, parameters.count)
        try statement.run(parameters[...]) { _ in }
        return Int(sqlite3_changes(database.sqliteConnection))
    }

    /// SQLite would keep a temporary table for `RETURNING`; it knows the number of the row without it.
    func insert(
        _ insertion: LedgerInsertion, key: String, _ parameters: [LedgerValue]
    ) throws(LedgerStorageError) -> Int64? {
        try execute(insertion.sql, parameters) > 0 ? sqlite3_last_insert_rowid(database.sqliteConnection) : nil
    }

    func rows(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> [LedgerRow] {
        let statement = try prepared(sql, parameters.count)
        var rows: [LedgerRow] = []
        try statement.run(parameters[...]) { rows.append($0) }
        return rows
    }

    private func prepared(_ sql: String, _ parameters: Int) throws(LedgerStorageError) -> SQLiteStatement {
        let statement = try statements.prepared(sql, database)
        executed += 1
        if !statement.isReadOnly { writes += 1 }
        guard statement.parameters == parameters else {
            throw LedgerStorageError(.other, "the parameters of a statement do not match its values: \(sql)")
        }
        return SQLiteStatement(handle: statement.handle, connection: database.sqliteConnection)
    }
}

/// A prepared statement of SQLite's C interface.
private struct SQLiteStatement {
    let handle: OpaquePointer
    let connection: OpaquePointer?

    /// Binds the parameters, reads all rows, and leaves the statement ready for the next use.
    func run(_ parameters: ArraySlice<LedgerValue>, _ row: (LedgerRow) -> Void) throws(LedgerStorageError) {
        let result = bind(parameters, at: 1, row)
        guard result != SQLITE_DONE else { return }
        // Resetting keeps the error of the last step.
        let error = LedgerStorageError(
            sqliteCode: sqlite3_extended_errcode(connection), message: String(cString: sqlite3_errmsg(connection)))
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        throw error
    }

    /// Binds the parameters recursively, so that the bytes of all of them stay in place until the last step.
    private func bind(_ parameters: ArraySlice<LedgerValue>, at place: CInt, _ row: (LedgerRow) -> Void) -> CInt {
        guard let parameter = parameters.first else { return step(row) }
        let rest = parameters.dropFirst()
        var result = SQLITE_OK
        switch parameter {
        case .null: result = sqlite3_bind_null(handle, place)
        case .integer(let number): result = sqlite3_bind_int64(handle, place, number)
        case .text(var text):
            return text.withUTF8 { bytes in
                // A null pointer would bind null.
                let result = bytes.withMemoryRebound(to: CChar.self) { bytes in
                    sqlite3_bind_text(handle, place, bytes.baseAddress ?? Self.empty, CInt(bytes.count), nil)
                }
                return result == SQLITE_OK ? bind(rest, at: place + 1, row) : result
            }
        case .blob(let bytes) where bytes.isEmpty: result = sqlite3_bind_zeroblob(handle, place, 0)
        case .blob(let bytes):
            return bytes.withUnsafeBytes { bytes in
                let result = sqlite3_bind_blob(handle, place, bytes.baseAddress, CInt(bytes.count), nil)
                return result == SQLITE_OK ? bind(rest, at: place + 1, row) : result
            }
        }
        return result == SQLITE_OK ? bind(rest, at: place + 1, row) : result
    }

    private func step(_ row: (LedgerRow) -> Void) -> CInt {
        let columns = sqlite3_column_count(handle)
        var result = sqlite3_step(handle)
        while result == SQLITE_ROW {
            var values: [LedgerValue] = []
            values.reserveCapacity(Int(columns))
            for column in 0..<columns { values.append(value(column)) }
            row(LedgerRow(values: values))
            result = sqlite3_step(handle)
        }
        guard result == SQLITE_DONE else { return result }
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        return result
    }

    private func value(_ column: CInt) -> LedgerValue {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_NULL: return .null
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, column))
        case SQLITE_TEXT:
            // The length is needed: bytes after a zero byte must not be hidden from the audit.
            let start = UnsafeRawPointer(sqlite3_column_text(handle, column))
            return .text(String(decoding: bytes(start, column), as: UTF8.self))
        case SQLITE_BLOB: return .blob([UInt8](bytes(sqlite3_column_blob(handle, column), column)))
        // The ledger stores no fractions. The reader of the column reports bytes where it expects a number.
        default: return .blob(Array("\(sqlite3_column_double(handle, column))".utf8))
        }
    }

    private func bytes(_ start: UnsafeRawPointer?, _ column: CInt) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    /// An address for empty text.
    nonisolated(unsafe) private static let empty: UnsafePointer<CChar> = {
        let byte = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
        byte.initialize(to: 0)
        return UnsafePointer(byte)
    }()
}

extension LedgerStorageError {
    /// Maps an error of GRDB.
    init(sqlite error: any Error) {
        if let error = error as? LedgerStorageError {
            self = error
            return
        }
        guard let error = error as? DatabaseError else {
            self.init(.other, "\(error)")
            return
        }
        self.init(sqliteCode: error.extendedResultCode.rawValue, message: error.message)
    }

    /// Maps SQLite's result codes ("Result and Error Codes"). The last byte of an extended code is the code.
    init(sqliteCode code: CInt, message: String?) {
        let kind: Kind =
            switch code & 0xFF {
            case SQLITE_CONSTRAINT: .constraint
            case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .busy
            case SQLITE_FULL: .full
            case SQLITE_READONLY, SQLITE_PERM: .readOnly
            case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: .corrupt
            case SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_AUTH, SQLITE_NOMEM: .unavailable
            case SQLITE_MISUSE where message?.contains("closed") == true: .closed
            default: .other
            }
        self.init(kind, "\(code): \(message ?? "no message")")
    }
}
