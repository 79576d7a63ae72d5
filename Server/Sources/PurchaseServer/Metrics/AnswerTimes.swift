import HTTPTypes
import Logging
import PurchaseLedger
import ServiceLifecycle
import Synchronization

/// Counts how long the answers to claims took, and adds the counts to those of the hour, so that no claim waits for
/// it. A process that is killed loses the counts of the last seconds.
final class AnswerTimes: Sendable {
    /// The time between two writes.
    static let interval = Duration.seconds(10)
    /// The routes of claims: a purchase, and a restore.
    private static let routes = ["/v1/purchases", "/v1/restores"]

    private let counts = Mutex<[String: [AnswerTimeBound: Int64]]>([:])

    /// Counts an answer, if it is one to a claim of an app.
    func note(_ method: HTTPRequest.Method, route: String?, app: String?, _ duration: Duration) {
        guard method == .post, let app, let route, Self.routes.contains(route) else { return }
        let bound = AnswerTimeBound(of: duration)
        counts.withLock { $0[app, default: [:]][bound, default: 0] += 1 }
    }

    /// The counts since the last call.
    private func take() -> [String: [AnswerTimeBound: Int64]] {
        counts.withLock { counts in
            defer { counts = [:] }
            return counts
        }
    }

    /// Adds counts again that could not be written.
    private func putBack(_ taken: [String: [AnswerTimeBound: Int64]]) {
        counts.withLock { counts in
            for (app, times) in taken { counts[app, default: [:]].merge(times, uniquingKeysWith: +) }
        }
    }

    /// Writes the counts while the server runs, and once more when it stops.
    struct Recording: Service {
        let times: AnswerTimes
        let ledger: PurchaseLedger
        let logger: Logger

        func run() async throws {
            await repeatUntilStop(every: AnswerTimes.interval) { await write() }
        }

        private func write() async {
            let taken = times.take()
            guard !taken.isEmpty else { return }
            do {
                try await ledger.perform(AddAnswerTimes(taken))
            } catch {
                // Only a drawing shows them, and the next round writes them again.
                times.putBack(taken)
                logger.debug("the times of answers were not written", metadata: ["error": "\(type(of: error))"])
            }
        }
    }
}
