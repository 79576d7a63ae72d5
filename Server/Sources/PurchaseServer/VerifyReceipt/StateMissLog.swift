package import Logging
import NIOCore
import NIOPosix
import PurchaseLedger
import Synchronization

/// Logs answers of `verifyReceipt` without state because the database gave none: the first at once, later ones together
/// in one line a minute, so that a database that is away for a day costs as many lines as the day has minutes.
package final class StateMissLog: Sendable {
    private let period: Duration
    private let logger: Logger
    private let state = Mutex(State())

    private struct State {
        /// Whether the line of the current period is written.
        var isOpen = false
        var counts: [ShortDeadlines.Miss.Kind: Int] = [:]
        var latest: (any Error)?
    }

    /// - Parameter period: the time between two lines.
    package init(period: Duration = .seconds(60), logger: Logger) { (self.period, self.logger) = (period, logger) }

    /// Notes a read that gave nothing.
    package func note(_ miss: ShortDeadlines.Miss) {
        let isFirst = state.withLock { state in
            state.counts[miss.kind, default: 0] += 1
            if case .failed(let error) = miss { state.latest = error }
            defer { state.isOpen = true }
            return !state.isOpen
        }
        if isFirst { write() }
    }

    /// Writes a line if there was anything, and looks again after the period.
    private func write() {
        let (counts, latest) = state.withLock { state in
            defer { (state.counts, state.latest) = ([:], nil) }
            state.isOpen = !state.counts.isEmpty
            return (state.counts, state.latest)
        }
        guard !counts.isEmpty else { return }
        var facts: Logger.Metadata = ["answers": .stringConvertible(counts.values.reduce(0, +))]
        for (kind, count) in counts { facts[kind.rawValue] = .stringConvertible(count) }
        if let error = latest as? LedgerStorageError {
            facts["code"] = "\(error.kind.rawValue)"
            facts["error"] = "\(error.detail)"
        } else if let latest {
            // The text of an unknown error may contain anything.
            facts["error"] = "\(type(of: latest))"
        }
        logger.warning("the state of receipts was not read, and answers are as of signing", metadata: facts)
        MultiThreadedEventLoopGroup.singleton.any()
            .scheduleTask(in: .nanoseconds(Int64(period / .nanoseconds(1)))) { self.write() }
    }
}
