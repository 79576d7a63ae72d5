import Foundation
import Synchronization
import TextFormats

/// The queue of log lines for standard error.
///
/// A separate thread writes all waiting lines at once, so that no request waits for a slow reader of the log. Lines
/// beyond the limit are dropped and counted.
final class LogOutput: Sendable {
    static let standardError = LogOutput { bytes in
        do {
            try FileHandle.standardError.write(contentsOf: Data(bytes))
        } catch {
            // The reader of the log is gone, so the error cannot be reported.
        }
    }

    /// The bytes that may wait: some ten thousand lines.
    private static let limit = 4 << 20

    private struct Waiting {
        var lines: [UInt8] = []
        var dropped = 0
        var isScheduled = false
    }

    private let waiting = Mutex(Waiting())
    private let queue = DispatchQueue(label: "assay.log")
    private let write: @Sendable ([UInt8]) -> Void

    /// - Parameter write: writes whole lines; called by one thread at a time.
    init(write: @escaping @Sendable ([UInt8]) -> Void) {
        self.write = write
    }

    /// Adds a line, without its line feed.
    func append(_ line: [UInt8]) {
        let mustSchedule = waiting.withLock { waiting in
            guard waiting.lines.count + line.count < Self.limit else {
                waiting.dropped += 1
                return false
            }
            waiting.lines += line
            waiting.lines.append(UInt8(ascii: "\n"))
            defer { waiting.isScheduled = true }
            return !waiting.isScheduled
        }
        if mustSchedule { queue.async { self.writeWaiting() } }
    }

    /// Writes all waiting lines. Call it before the program ends, and before other output to standard error.
    func flush() {
        queue.sync { writeWaiting() }
    }

    private func writeWaiting() {
        let taken = waiting.withLock { waiting in
            defer { waiting = Waiting() }
            return waiting
        }
        if !taken.lines.isEmpty { write(taken.lines) }
        if taken.dropped > 0 {
            write(
                Array("assay: \(counted(taken.dropped, "line of the log was", "lines of the log were")) dropped\n".utf8)
            )
        }
    }
}
