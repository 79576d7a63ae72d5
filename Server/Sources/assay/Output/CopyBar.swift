import PurchaseLedger
import Synchronization

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
