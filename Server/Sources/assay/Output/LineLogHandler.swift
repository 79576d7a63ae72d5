import Foundation
import Logging
import PurchaseServer

/// A log in lines on standard error: text for people, or one JSON object per line for programs.
struct LineLogHandler: LogHandler {
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    let format: ServerConfiguration.LogFormat
    let output: LogOutput

    /// A logger of the program.
    static func logger(_ format: ServerConfiguration.LogFormat, level: Logger.Level) -> Logger {
        var logger = Logger(label: "assay") { _ in LineLogHandler(format: format, output: .standardError) }
        logger.logLevel = level
        return logger
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let facts = metadata.merging(event.metadata ?? [:]) { $1 }
        let line = LogLine(level: event.level, message: event.message.description, facts: facts)
        output.append(format == .json ? line.json : line.text)
    }
}
