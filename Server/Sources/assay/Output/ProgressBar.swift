import Foundation

/// The progress of long work, on a terminal: share, count, rate and remaining time in one line. Nothing is shown during
/// the first two seconds, or if standard error is not a terminal.
struct ProgressBar {
    private let isShown = Terminal.isErrorsTerminal
    private let clock = ContinuousClock()
    private let unit: String
    private var start: (time: ContinuousClock.Instant, done: Int, share: Double)?
    private var shown: ContinuousClock.Instant?

    private static let delay = Duration.seconds(2)
    private static let interval = Duration.milliseconds(200)
    private static let barWidth = 20

    /// - Parameter unit: the name of what is counted, in the plural.
    init(unit: String = "checked") { self.unit = unit }

    /// Shows the progress, at most five times a second.
    ///
    /// - Parameters:
    ///   - done: the number of units that are done.
    ///   - share: the share that is done, from 0 to 1; 0 if unknown.
    ///   - note: the present step.
    mutating func show(done: Int, share: Double, note: String = "") {
        guard isShown else { return }
        let now = clock.now
        guard let start else {
            self.start = (now, done, share)
            return
        }
        guard now - start.time >= Self.delay, shown.map({ now - $0 >= Self.interval }) ?? true else { return }
        shown = now
        let seconds = (now - start.time) / .seconds(1)
        var parts: [String] = []
        if share > 0 {
            let filled = Int(min(1, share) * Double(Self.barWidth))
            let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: Self.barWidth - filled)
            parts.append("\(bar) \(Int(min(1, share) * 100)) %")
        }
        parts += ["\(done) \(unit)", "\(Int(Double(done - start.done) / seconds))/s"]
        let speed = (share - start.share) / seconds
        if share > 0, speed > 0 { parts.append("\(Self.words(seconds: (1 - min(1, share)) / speed)) left") }
        if !note.isEmpty { parts.append(note) }
        let line = parts.joined(separator: "  ").prefix(max(20, Terminal.errorsWidth - 1))
        Terminal.write(Array("\r\(line)\u{1B}[K".utf8), toErrors: true)
    }

    /// Removes the line, so that other text can be written there.
    mutating func clear() {
        guard shown != nil else { return }
        // It appears again with the next interval.
        shown = nil
        Terminal.write(Array("\r\u{1B}[K".utf8), toErrors: true)
    }

    private static func words(seconds: Double) -> String {
        let seconds = Int(min(seconds, 360_000))
        return switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3600: "\(seconds / 60) min \(seconds % 60) s"
        default: "\(seconds / 3600) h \(seconds % 3600 / 60) min"
        }
    }
}
