import EvidenceMint
import Foundation

/// Standard output and standard error, as one place to write to.
enum Terminal {
    /// Writes all of the text at once. Nothing in it but line feeds reaches the terminal unseen, whatever was forgotten before.
    static func write(_ text: String, toErrors: Bool = false) {
        write(Array(VisibleText.forPeople(text, keepsLines: true).utf8), toErrors: toErrors)
    }

    /// Writes bytes as they are, all at once: what was made visible before, or is not for people.
    static func write(_ text: [UInt8], toErrors: Bool = false) {
        let handle = toErrors ? FileHandle.standardError : FileHandle.standardOutput
        do {
            try handle.write(contentsOf: Data(text))
        } catch {
            // The reader has gone, as `head` does; nobody is left to tell.
            Foundation.exit(ExitCodes.unusable)
        }
    }

    /// Writes a complaint in one line.
    static func complain(_ text: String) {
        write("assay: \(text.printable)\n", toErrors: true)
    }

    static var isErrorsTerminal: Bool { isatty(FileHandle.standardError.fileDescriptor) == 1 }
    static var isInputTerminal: Bool { isatty(FileHandle.standardInput.fileDescriptor) == 1 }
    static var isOutputTerminal: Bool { isatty(FileHandle.standardOutput.fileDescriptor) == 1 }

    private enum ExitCodes { static let unusable: Int32 = 2 }
}

/// A bar on a terminal that shows how much is done; it writes nothing where errors do not go to a terminal.
struct ProgressBar {
    private let isShown = Terminal.isErrorsTerminal
    private let unit: String
    private var lastShare = -1
    private static let width = 32

    /// - Parameter unit: what is counted.
    init(unit: String = "checked") { self.unit = unit }

    /// Shows the share that is done, when it changed, and how many that are.
    mutating func show(done: Int, share: Double, note: String = "") {
        guard isShown else { return }
        let filled = Int(max(0, min(1, share)) * Double(Self.width))
        guard filled != lastShare || done % 500 == 0 || !note.isEmpty else { return }
        lastShare = filled
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: Self.width - filled)
        Terminal.write(Array("\r\(bar) \(done) \(unit)\(note)".utf8), toErrors: true)
    }

    /// Takes the bar off the line, so that something else can be written there.
    mutating func clear() {
        guard isShown, lastShare >= 0 else { return }
        lastShare = -1
        Terminal.write(Array("\r\u{1B}[K".utf8), toErrors: true)
    }
}
