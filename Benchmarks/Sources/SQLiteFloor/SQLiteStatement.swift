import GRDBSQLite

/// A value of a row.
package enum Value: Hashable, Sendable {
    case null
    case integer(Int64)
    case text([UInt8])
    case blob([UInt8])
}

/// A connection through SQLite's C interface.
package final class Connection {
    let handle: OpaquePointer

    package init(_ path: String) throws {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        guard sqlite3_open_v2(path, &handle, flags, nil) == SQLITE_OK, let handle else {
            throw BenchmarkError("\(path) cannot be opened")
        }
        self.handle = handle
    }

    deinit { sqlite3_close_v2(handle) }

    package func execute(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw error() }
    }

    /// The pages that were written since the last call.
    package func takePages() -> Int {
        var (pages, highest): (CInt, CInt) = (0, 0)
        sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &highest, 1)
        return Int(pages)
    }

    func error() -> BenchmarkError { BenchmarkError("SQLite: \(String(cString: sqlite3_errmsg(handle)))") }
}

/// A prepared statement.
package final class Statement {
    private let connection: Connection
    private let handle: OpaquePointer

    package init(_ sql: String, _ connection: Connection) throws {
        var handle: OpaquePointer?
        guard sqlite3_prepare_v2(connection.handle, sql, -1, &handle, nil) == SQLITE_OK, let handle else {
            throw connection.error()
        }
        (self.connection, self.handle) = (connection, handle)
    }

    deinit { sqlite3_finalize(handle) }

    /// Binds values without copies, and steps to the end.
    package func run(_ values: [Value]) throws {
        try bind(values[...], at: 1) {
            var result = sqlite3_step(handle)
            while result == SQLITE_ROW { result = sqlite3_step(handle) }
            sqlite3_reset(handle)
            guard result == SQLITE_DONE else { throw connection.error() }
        }
    }

    /// All rows for some values.
    package func rows(_ values: [Value] = []) throws -> [[Value]] {
        var rows: [[Value]] = []
        try bind(values[...], at: 1) {
            defer { sqlite3_reset(handle) }
            while true {
                switch sqlite3_step(handle) {
                case SQLITE_ROW: rows.append((0..<sqlite3_column_count(handle)).map(value))
                case SQLITE_DONE: return
                default: throw connection.error()
                }
            }
        }
        return rows
    }

    private func bind(_ values: ArraySlice<Value>, at place: CInt, then step: () throws -> Void) throws {
        guard let value = values.first else { return try step() }
        switch value {
        case .null: sqlite3_bind_null(handle, place)
        case .integer(let number): sqlite3_bind_int64(handle, place, number)
        case .text(let bytes):
            try bytes.withUnsafeBytes { bytes in
                sqlite3_bind_text(
                    handle, place, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), CInt(bytes.count), nil)
                try bind(values.dropFirst(), at: place + 1, then: step)
            }
            return
        case .blob(let bytes) where bytes.isEmpty: sqlite3_bind_zeroblob(handle, place, 0)
        case .blob(let bytes):
            try bytes.withUnsafeBytes { bytes in
                sqlite3_bind_blob(handle, place, bytes.baseAddress, CInt(bytes.count), nil)
                try bind(values.dropFirst(), at: place + 1, then: step)
            }
            return
        }
        try bind(values.dropFirst(), at: place + 1, then: step)
    }

    private func value(_ column: CInt) -> Value {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, column))
        case SQLITE_NULL: return .null
        case let type:
            let start = sqlite3_column_blob(handle, column)
            let bytes = [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
            return type == SQLITE_TEXT ? .text(bytes) : .blob(bytes)
        }
    }
}
