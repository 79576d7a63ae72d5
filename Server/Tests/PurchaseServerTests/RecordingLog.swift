import Logging
import Synchronization

/// A log that keeps its lines, with all their metadata.
final class RecordingLog: Sendable {
    private let kept = Mutex<[Line]>([])

    struct Line: Sendable {
        let level: Logger.Level
        let message: String
        let facts: [String: String]
    }

    var lines: [Line] { kept.withLock { $0 } }

    /// The lines about requests.
    var requests: [Line] { lines.filter { $0.message == "request" } }

    func logger(_ level: Logger.Level) -> Logger {
        var logger = Logger(label: "test") { _ in Handler(log: self) }
        logger.logLevel = level
        return logger
    }

    private struct Handler: LogHandler {
        let log: RecordingLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let facts = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
            log.kept.withLock { $0.append(Line(level: event.level, message: event.message.description, facts: facts)) }
        }
    }
}
