import GRDB
import GRDBSQLite

/// The prepared statements of one connection, found by their text. Only the thread of the connection uses it.
///
/// They come from GRDB's cache, which hashes all of a statement's text for each use.
final class SQLiteStatements {
    /// A statement, with what does not change about it.
    struct Prepared {
        let handle: OpaquePointer
        let parameters: Int
        let isReadOnly: Bool
        /// Keeps the handle valid.
        let owner: Statement
    }

    /// Hashes the length and the end of the text, in which statements differ.
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

    /// The statement of a text of this program, prepared if it was not yet.
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
        // Few statements are composed, so the number of texts is bounded by this program.
        statements[Text(sql: sql)] = prepared
        return prepared
    }

    /// Forgets all statements; a connection cannot be closed while it has some.
    func removeAll() { statements.removeAll() }
}
