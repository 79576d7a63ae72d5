import PurchaseLedger
import Synchronization

/// The progress of an audit, on a terminal.
final class AuditBar: Sendable {
    private let bar = Mutex(ProgressBar())

    func show(_ progress: AuditProgress) {
        bar.withLock {
            $0.show(done: Int(progress.done), share: Double(progress.done) / Double(max(1, progress.total)))
        }
    }

    func clear() { bar.withLock { $0.clear() } }
}
