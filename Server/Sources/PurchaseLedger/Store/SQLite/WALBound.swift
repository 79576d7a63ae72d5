import Foundation
import GRDB
import Synchronization

/// Keeps the WAL from growing while readers overlap.
///
/// SQLite restarts the WAL from its beginning only if a commit finds no reader that still needs it. When lists are read
/// all the time there is always such a reader, so the file grows although all of it was checkpointed. Beyond a size,
/// the connection that writes waits for these readers, which are short, and truncates the file.
final class WALBound: Sendable {
    /// How long writes may wait for readers, in milliseconds. If a reader takes longer, such as a backup, the WAL
    /// grows.
    private static let waitMilliseconds = 50
    /// The pause after such a reader, in seconds.
    private static let pauseSeconds = 1.0

    private let file: String
    private let bytes: Int
    private let busyMilliseconds: Int
    private let nextTry = Mutex(0.0)

    /// - Parameters:
    ///   - path: the database.
    ///   - bytes: the size of the WAL from which it is truncated.
    ///   - busySeconds: the waiting time of the connection for everything else.
    init(path: String, bytes: Int, busySeconds: Double) {
        file = path + "-wal"
        self.bytes = bytes
        busyMilliseconds = Int(busySeconds * 1000)
    }

    /// Truncates the WAL if it is too long. Call it after a commit, outside of a transaction.
    func enforce(_ database: Database) {
        var status = stat()
        guard stat(file, &status) == 0, Int(status.st_size) > bytes else { return }
        let now = ProcessInfo.processInfo.systemUptime
        guard nextTry.withLock({ $0 <= now }) else { return }
        do {
            try database.execute(sql: "PRAGMA busy_timeout = \(Self.waitMilliseconds)")
            defer {
                // This cannot fail: the same setting was made above.
                try? database.execute(sql: "PRAGMA busy_timeout = \(busyMilliseconds)")
            }
            _ = try database.checkpoint(.truncate)
        } catch {
            // A reader takes longer, or the disk is full, which the next write reports.
            nextTry.withLock { $0 = now + Self.pauseSeconds }
        }
    }
}
