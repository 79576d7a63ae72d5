import Foundation
import PurchaseLedger
import Synchronization

/// How far a copy is, on a terminal: the share, the rate and the remaining time of the step.
final class CopyBar: Sendable {
    private struct State {
        var bar = ProgressBar(unit: "rows")
        var step: CopyProgress.Step?
        var start = ContinuousClock.now
        var shown = ContinuousClock.now
    }

    private let state = Mutex(State())
    private static let interval = Duration.milliseconds(200)

    func show(_ progress: CopyProgress) {
        state.withLock { state in
            let now = ContinuousClock.now
            if state.step != progress.step { (state.step, state.start, state.shown) = (progress.step, now, now) }
            guard now - state.shown >= Self.interval else { return }
            state.shown = now
            let share = Double(progress.done) / Double(max(1, progress.total))
            state.bar.show(
                done: Int(progress.done), share: share,
                note: Self.note(progress, seconds: (now - state.start) / .seconds(1)))
        }
    }

    func clear() { state.withLock { $0.bar.clear() } }

    /// The share in percent, the rate and the remaining time.
    static func note(_ progress: CopyProgress, seconds: Double) -> String {
        let percent = Int(100 * Double(progress.done) / Double(max(1, progress.total)))
        let rate = Double(progress.done - progress.doneBefore) / max(seconds, 0.001)
        var note = ", \(percent) %, \(Int(rate)) rows/s"
        if rate > 0 {
            let rest = Int(Double(max(0, progress.total - progress.done)) / rate)
            note += rest < 60 ? ", \(rest) s left" : ", \(rest / 60) min \(rest % 60) s left"
        }
        return note + ", \(progress.step.rawValue) \(progress.table)    "
    }
}
