import Foundation
import GRDB
import GRDBSQLite
import PurchaseLedger

/// The cost of statements in a SQLite database, as counted by the engine: the same on every machine.
struct StatementCost {
    /// Instructions of SQLite's virtual machine: each row and each index entry that is read costs several.
    var steps = 0
    /// The number of rows that were read without an index.
    var scannedRows = 0
    /// The number of sorts.
    var sorts = 0

    /// Executes queries again, on a separate connection.
    init(of calls: [RecordingDatabase.Call], in file: DatabaseQueue) throws {
        self = try file.read { database in
            var cost = StatementCost()
            for call in calls where call.sql.hasPrefix("SELECT") {
                let statement = try database.makeStatement(sql: call.sql)
                let values: [(any DatabaseValueConvertible)?] = call.parameters.map {
                    switch $0 {
                    case .null: nil
                    case .integer(let number): number
                    case .text(let text): text
                    case .blob(let bytes): Data(bytes)
                    }
                }
                let rows = try Row.fetchCursor(statement, arguments: StatementArguments(values))
                while try rows.next() != nil {}
                let counter = { Int(sqlite3_stmt_status(statement.sqliteStatement, $0, 0)) }
                cost.steps += counter(SQLITE_STMTSTATUS_VM_STEP)
                cost.scannedRows += counter(SQLITE_STMTSTATUS_FULLSCAN_STEP)
                cost.sorts += counter(SQLITE_STMTSTATUS_SORT)
            }
            return cost
        }
    }

    private init() {}
}
