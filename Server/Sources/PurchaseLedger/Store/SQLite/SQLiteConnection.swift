import Foundation
import GRDB

/// A SQLite connection inside a transaction.
struct SQLiteConnection: LedgerConnection {
    let database: Database
    var counter: StatementCounter?

    @discardableResult
    func execute(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> Int {
        counter?.count += 1
        do {
            try database.cachedStatement(sql: sql).execute(arguments: Self.arguments(parameters))
            return database.changesCount
        } catch {
            throw LedgerStorageError(sqlite: error)
        }
    }

    func rows(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> [LedgerRow] {
        counter?.count += 1
        do {
            let statement = try database.cachedStatement(sql: sql)
            let cursor = try Row.fetchCursor(statement, arguments: Self.arguments(parameters))
            var rows: [LedgerRow] = []
            while let row = try cursor.next() {
                rows.append(LedgerRow(values: try (0..<row.count).map { try Self.value(row, $0) }))
            }
            return rows
        } catch {
            throw LedgerStorageError(sqlite: error)
        }
    }

    private static func arguments(_ parameters: [LedgerValue]) -> StatementArguments {
        StatementArguments(
            parameters.map { parameter -> (any DatabaseValueConvertible)? in
                switch parameter {
                case .null: nil
                case .integer(let number): number
                case .text(let text): text
                case .blob(let bytes): bytes.withUnsafeBytes { Data($0) }
                }
            })
    }

    private static func value(_ row: Row, _ index: Int) throws -> LedgerValue {
        let value: DatabaseValue = row[index]
        switch value.storage {
        case .null: return .null
        case .int64(let number): return .integer(number)
        case .string(let text):
            // GRDB reads text up to the first zero byte. Bytes after it must not be hidden from the audit.
            return try row.withUnsafeData(atIndex: index) { bytes in
                guard let bytes, bytes.count != text.utf8.count else { return .text(text) }
                return .text(String(decoding: bytes, as: UTF8.self))
            }
        case .blob(let data): return .blob([UInt8](data))
        // The ledger stores no fractions. Bytes where a number is expected are reported by the reader of the column.
        case .double(let number): return .blob(Array("\(number)".utf8))
        }
    }
}

extension LedgerStorageError {
    /// Maps SQLite's result codes ("Result and Error Codes").
    init(sqlite error: any Error) {
        if let error = error as? LedgerStorageError {
            self = error
            return
        }
        guard let error = error as? DatabaseError else {
            self.init(.other, "\(error)")
            return
        }
        let kind: Kind =
            switch error.resultCode {
            case .SQLITE_CONSTRAINT: .constraint
            case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL: .busy
            case .SQLITE_FULL: .full
            case .SQLITE_READONLY, .SQLITE_PERM: .readOnly
            case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT: .corrupt
            case .SQLITE_CANTOPEN, .SQLITE_IOERR, .SQLITE_AUTH, .SQLITE_NOMEM: .unavailable
            case .SQLITE_MISUSE where error.message?.contains("closed") == true: .closed
            default: .other
            }
        self.init(kind, "\(error.extendedResultCode.rawValue): \(error.message ?? "no message")")
    }
}
