import PurchaseLedger
import Synchronization

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
