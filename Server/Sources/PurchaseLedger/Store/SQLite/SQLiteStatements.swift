import GRDB
import GRDBSQLite

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
