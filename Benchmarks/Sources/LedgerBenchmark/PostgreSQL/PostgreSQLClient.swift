import CPostgreSQL
import Foundation
import SQLiteFloor

/// A connection for the bare loop, through libpq alone.
final class PostgreSQLClient {
    let connection: OpaquePointer

    init(_ url: String) throws {
        guard let connection = PQconnectdb(url), PQstatus(connection) == CONNECTION_OK else {
            throw BenchmarkError("PostgreSQL at \(url) cannot be reached")
        }
        self.connection = connection
    }

    deinit { PQfinish(connection) }

    func execute(_ sql: String) throws {
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else { throw failure(sql) }
    }

    /// The rows of a table as PostgreSQL sends them, and the types of its columns.
    func rows(_ sql: String) throws -> (rows: [[Field]], types: [Oid]) {
        let result = PQexecParams(connection, sql, 0, nil, nil, nil, nil, 1)
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_TUPLES_OK else { throw failure(sql) }
        let columns = PQnfields(result)
        let rows = (0..<PQntuples(result)).map { row in
            (0..<columns).map { column -> Field in
                guard PQgetisnull(result, row, column) == 0, let value = PQgetvalue(result, row, column) else {
                    return nil
                }
                return Array(UnsafeBufferPointer(start: value, count: Int(PQgetlength(result, row, column))))
            }
        }
        return (rows, (0..<columns).map { PQftype(result, $0) })
    }

    func failure(_ what: String) -> BenchmarkError {
        BenchmarkError("\(what): \(PQerrorMessage(connection).map { String(cString: $0) } ?? "")")
    }
}

/// A value in PostgreSQL's binary format; `nil` is null.
typealias Field = [CChar]?
