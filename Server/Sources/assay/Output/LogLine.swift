import Foundation
import Logging
import PurchaseServer

struct LogLine {
    let level: Logger.Level
    let message: String
    let facts: Logger.Metadata
    var time = Date()

    /// The request id has Hummingbird's name in the metadata, and is called the id everywhere else.
    private static let names = ["hb.request.id": "id"]
    /// The names of the line itself, which no fact may replace.
    private static let reserved: Set<String> = ["time", "level", "message"]

    /// Time, level, message and facts, with hidden characters escaped.
    var text: [UInt8] {
        let words = facts.sorted { $0.key < $1.key }.map { "\(Self.name($0.key))=\($0.value)" }
        let line = ([Self.stamp(time), level.rawValue, message] + words).joined(separator: " ")
        return Array(line.printable.utf8)
    }

    /// A JSON object with the same content.
    var json: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var members = Dictionary(
            facts.map { (Self.name($0.key), LogValue($0.value)) }, uniquingKeysWith: { first, _ in first })
        members["time"] = .text(Self.stamp(time))
        members["level"] = .text(level.rawValue)
        members["message"] = .text(message)
        do {
            return VisibleText.inJSON([UInt8](try encoder.encode(members)))
        } catch {
            // Only a number that is not finite cannot be encoded, and LogValue has none.
            return Array(#"{"level":"error","message":"a line of the log could not be encoded"}"#.utf8)
        }
    }

    private static func name(_ name: String) -> String {
        reserved.contains(name) ? "fact.\(name)" : names[name] ?? name
    }

    /// RFC 3339 in UTC, with milliseconds.
    private static func stamp(_ time: Date) -> String {
        time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}

/// A fact in a line of JSON. Numbers stay numbers.
private enum LogValue: Encodable {
    case text(String)
    case number(Double)
    case integer(Int64)
    case flag(Bool)
    case list([LogValue])
    case object([String: LogValue])

    init(_ value: Logger.Metadata.Value) {
        switch value {
        case .string(let text): self = .text(text)
        case .stringConvertible(let value as any BinaryInteger): self = .integer(Int64(clamping: value))
        case .stringConvertible(let value as Bool): self = .flag(value)
        case .stringConvertible(let value as Double) where value.isFinite: self = .number(value)
        case .stringConvertible(let value): self = .text(value.description)
        case .array(let values): self = .list(values.map(LogValue.init))
        case .dictionary(let values): self = .object(values.mapValues(LogValue.init))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .integer(let number): try container.encode(number)
        case .flag(let flag): try container.encode(flag)
        case .list(let values): try container.encode(values)
        case .object(let values): try container.encode(values)
        }
    }
}

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
