import EvidenceMint
import Foundation
import Logging
import Synchronization
import TextFormats
import UnixSignals

/// Standard output and standard error, as one place to write to.
enum Terminal {
    /// Writes all of the text at once. Every hidden character except line feeds is escaped here, even if the caller did
    /// not escape it.
    static func write(_ text: String, toErrors: Bool = false) {
        write(Array(VisibleText.forPeople(text, keepsLines: true).utf8), toErrors: toErrors)
    }

    /// Writes bytes unchanged, all at once: for text that was escaped already, or is not for people.
    static func write(_ text: [UInt8], toErrors: Bool = false) {
        let handle = toErrors ? FileHandle.standardError : FileHandle.standardOutput
        if toErrors { LogOutput.standardError.flush() }
        do {
            try handle.write(contentsOf: Data(text))
        } catch {
            // The reader is gone, as after `head`, so the error cannot be reported.
            Foundation.exit(ExitCodes.unusable)
        }
    }

    /// Writes an error message in one line.
    static func complain(_ text: String) { say(text, .error) }

    /// Writes a note in one line, on standard error, so that it is not mistaken for a result.
    static func remark(_ text: String) { say(text, .notice) }

    /// From here on, error messages and notes are log lines in JSON, because a program reads standard error.
    static func useLog(_ logger: Logger) { log.withLock { $0 = logger } }

    /// Whether error messages and notes are log lines.
    static var isLog: Bool { log.withLock { $0 != nil } }

    private static let log = Mutex<Logger?>(nil)

    private static func say(_ text: String, _ level: Logger.Level) {
        if let logger = log.withLock({ $0 }) {
            logger.log(level: level, "\(text)")
        } else {
            write("assay: \(text.printable)\n", toErrors: true)
        }
    }

    static var isErrorsTerminal: Bool { isatty(FileHandle.standardError.fileDescriptor) == 1 }
    static var isInputTerminal: Bool { isatty(FileHandle.standardInput.fileDescriptor) == 1 }
    static var isOutputTerminal: Bool { isatty(FileHandle.standardOutput.fileDescriptor) == 1 }

    /// Whether verdicts are coloured: on a terminal, unless `NO_COLOR` is set (https://no-color.org).
    static var isOutputColored: Bool {
        let environment = ProcessInfo.processInfo.environment
        return isOutputTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    /// The columns of standard output; nil if it is not a terminal.
    static var outputWidth: Int? { isOutputTerminal ? width(STDOUT_FILENO) : nil }
    /// The columns of standard error.
    static var errorsWidth: Int { width(STDERR_FILENO) ?? 80 }

    private static func width(_ descriptor: Int32) -> Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    private enum ExitCodes { static let unusable: Int32 = 2 }
}

/// Text from outside, escaped so that it cannot control the terminal, forge a line, or hide its content.
///
/// Evidence, names of files and the answers of other servers may hold any Unicode scalar. Scalars without a visible
/// form are written as their number: `\u{202E}` for people, `\u202e` in JSON.
enum VisibleText {
    /// Whether a scalar is invisible, moves other text, or ends a line:
    ///
    /// - controls (C0, U+007F, C1), which drive terminals;
    /// - line and paragraph separators (U+2028, U+2029);
    /// - format characters: bidirectional controls (U+061C, U+200E, U+202A, U+2066 …), zero-width ones, U+FEFF, tags;
    /// - other scalars that Unicode calls ignorable, such as fillers and variation selectors (UAX #44,
    ///   Default_Ignorable_Code_Point).
    static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x7F { return scalar.value < 0x20 }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    /// The text for people, in one line or, if it is our own message around text from outside, with its line feeds.
    static func forPeople(_ text: String, keepsLines: Bool = false) -> String {
        guard mayHide(text.utf8, keepsLines: keepsLines) else { return text }
        var visible = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isHidden(scalar), !(keepsLines && scalar == "\n") {
                visible.append(contentsOf: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars)
            } else {
                visible.append(scalar)
            }
        }
        return String(visible)
    }

    /// One line of JSON, with its hidden scalars escaped (RFC 8259, 7). Outside of strings JSON is ASCII without
    /// controls, so they can only be inside of strings, where an escape has the same meaning.
    static func inJSON(_ json: [UInt8]) -> [UInt8] {
        // The usual case has a fast path.
        guard mayHide(json, keepsLines: false) else { return json }
        var visible: [UInt8] = []
        visible.reserveCapacity(json.count + 64)
        for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
            guard isHidden(scalar) else {
                visible.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
                continue
            }
            for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
                let digits = String(unit, radix: 16)
                visible.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
            }
        }
        return visible
    }

    /// Whether any byte could belong to a hidden scalar.
    private static func mayHide(_ utf8: some Sequence<UInt8>, keepsLines: Bool) -> Bool {
        utf8.contains { $0 >= 0x7F || $0 < 0x20 && !(keepsLines && $0 == 0x0A) }
    }
}

extension String {
    /// The text in one line, with nothing hidden in it: evidence must not be able to control the terminal.
    var printable: String { VisibleText.forPeople(self) }
}

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

/// Whether a signal asked the program to end after the current batches. A second signal ends the program.
final class Interruption: Sendable {
    private let state = Mutex(false)

    /// The exit status after a signal: 128 and the number of SIGINT, as shells have it.
    static let status: Int32 = 130

    var isRequested: Bool { state.withLock { $0 } }

    /// Watches for SIGINT and SIGTERM from here on, until the program ends.
    func watch() async {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        Task {
            for await _ in signals {
                guard !isRequested else { Foundation.exit(Self.status) }
                state.withLock { $0 = true }
            }
        }
    }
}
