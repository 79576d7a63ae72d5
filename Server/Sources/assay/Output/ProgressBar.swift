import Foundation
import PurchaseLedger
import Synchronization

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

/// The progress of an audit, on a terminal.
final class AuditBar: Sendable {
    /// `nil` before the bar may be shown.
    private let bar = Mutex<ProgressBar?>(nil)

    /// Shows the progress from now on, so that lines that are written before are not mixed with it.
    func begin() { bar.withLock { $0 = ProgressBar() } }

    func show(_ progress: AuditProgress) {
        bar.withLock {
            $0?.show(done: Int(progress.done), share: Double(progress.done) / Double(max(1, progress.total)))
        }
    }

    func clear() { bar.withLock { $0?.clear() } }
}

/// The progress of a copy, on a terminal.
final class CopyBar: Sendable {
    private struct State {
        var bar = ProgressBar(unit: "rows")
        var step: CopyProgress.Step?
    }

    private let state = Mutex(State())

    func show(_ progress: CopyProgress) {
        state.withLock { state in
            if state.step != progress.step {
                // Each step has its own rate.
                state.bar.clear()
                (state.step, state.bar) = (progress.step, ProgressBar(unit: "rows"))
            }
            state.bar.show(
                done: Int(progress.done), share: Double(progress.done) / Double(max(1, progress.total)),
                note: "\(progress.step.rawValue) \(progress.table)")
        }
    }

    func clear() { state.withLock { $0.bar.clear() } }
}
