import Logging
import NIOCore
import NIOPosix
import PurchaseLedger
import Synchronization

/// Logs requests that fail because the database is away: one line a second with their number, not two lines for each.
final class OutageLog: Sendable {
    private static let period = TimeAmount.seconds(1)

    private let state = Mutex(State())

    private struct State {
        var isOpen = false
        var requests = 0
        var latest: LedgerStorageError?
    }

    /// Notes a failed request. The first one is logged at once, later ones together at the end of the second.
    func note(_ error: LedgerStorageError, _ logger: Logger) {
        let isFirst = state.withLock { state in
            guard state.isOpen else {
                state.isOpen = true
                return true
            }
            state.requests += 1
            state.latest = error
            return false
        }
        guard isFirst else { return }
        log(error, requests: 1, logger)
        schedule(logger)
    }

    private func schedule(_ logger: Logger) {
        MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: Self.period) { self.close(logger) }
    }

    private func close(_ logger: Logger) {
        let (error, requests) = state.withLock { state in
            defer { (state.requests, state.latest) = (0, nil) }
            state.isOpen = state.requests > 0
            return (state.latest, state.requests)
        }
        guard let error else { return }
        log(error, requests: requests, logger)
        schedule(logger)
    }

    private func log(_ error: LedgerStorageError, requests: Int, _ logger: Logger) {
        var logger = logger
        // The line is about several requests.
        logger[metadataKey: "hb.request.id"] = nil
        logger[metadataKey: "key"] = nil
        logger.error(
            "database failed",
            metadata: [
                "code": "\(error.kind.rawValue)", "error": "\(error.detail)", "requests": .stringConvertible(requests),
            ])
    }
}

extension LedgerStorageError {
    /// Whether the database is away, which fails every request alike.
    var isOutage: Bool {
        switch kind {
        case .unavailable, .outcomeUnknown: true
        default: false
        }
    }
}
