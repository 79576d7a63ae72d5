import Foundation
import GRDB
import GRDBSQLite

/// Counters of the connection that writes.
public struct WriterFigures: Sendable {
    /// The number of committed transactions.
    public var transactions = 0
    /// The number of writes in them.
    public var writes = 0
    /// The number of statements of the writes, without those that begin, end and divide transactions.
    public var statements = 0
    /// The number of pages written to the write-ahead log.
    public var pages = 0
    /// The processor time of the thread that writes, in seconds.
    public var processorTime = 0.0

    /// The processor time of this thread, in seconds.
    static func threadTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The pages that a connection has written since the last call.
    static func takePages(_ database: Database) -> Int {
        var (pages, highest): (CInt, CInt) = (0, 0)
        sqlite3_db_status(database.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &highest, 1)
        return Int(pages)
    }
}
