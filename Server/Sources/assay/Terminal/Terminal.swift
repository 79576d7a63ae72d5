import EvidenceMint
import Foundation
import Logging
import Synchronization

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
