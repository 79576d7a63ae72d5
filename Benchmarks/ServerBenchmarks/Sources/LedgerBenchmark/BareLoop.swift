import Foundation
import GRDB

/// The least that a durable insert can cost with this engine: rows of 60 bytes with a unique text key, in a loop with nothing
/// around it, in a write-ahead log that is flushed at each commit.
struct BareLoop {
    /// So many rows share a commit.
    let rowsPerCommit: Int

    /// Rows per second.
    func run(count: Int, in folder: URL) throws -> Double {
        let pool = try DatabasePool(path: folder.appending(path: "bare.sqlite").path)
        try pool.writeWithoutTransaction { database in
            // The pool sets NORMAL after its connections are prepared.
            try database.execute(sql: "PRAGMA synchronous = FULL")
            guard try Int.fetchOne(database, sql: "PRAGMA synchronous") == 2 else {
                throw BenchmarkError("the bare loop is not durable")
            }
            try database.execute(sql: "CREATE TABLE purchase (id TEXT PRIMARY KEY, customer TEXT, time INTEGER)")
        }
        let keys = (0..<count).map { _ in UUID().uuidString }
        let start = ContinuousClock.now
        try pool.writeWithoutTransaction { database in
            for first in stride(from: 0, to: count, by: rowsPerCommit) {
                try database.inTransaction(.immediate) {
                    for key in keys[first..<min(first + rowsPerCommit, count)] {
                        try database.cachedStatement(sql: "INSERT INTO purchase VALUES (?, ?, ?)")
                            .execute(arguments: [key, "customer-4711", 1_700_000_000_000])
                    }
                    return .commit
                }
            }
        }
        let seconds = (ContinuousClock.now - start).seconds
        try pool.close()
        return Double(count) / seconds
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

/// Why nothing was measured.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
