import HTTPTypes
import Logging
import ServiceLifecycle
import Synchronization

/// Counts refused notifications by status and code, for the log.
///
/// Anybody can send forgeries, and a line for each costs more than refusing it. So the first one of a minute with a
/// code has its own line, and the others have one line with their number at the end of the minute.
final class RefusedNotifications: Sendable {
    /// The paths of notifications, as the log names them.
    static let paths = ["/notifications/v2", "/notifications/v2/{app}", "/stripe/{app}"]
    private static let interval = Duration.seconds(60)

    private let counts = Mutex<[Refusal: Int]>([:])

    /// What refused notifications have in common. The server has few codes, so there are few of these.
    private struct Refusal: Hashable {
        let status: Int
        let code: String
    }

    /// Counts a refused notification.
    ///
    /// - Returns: whether another one of this minute has its own line already.
    func isCounted(_ status: HTTPResponse.Status, _ code: String) -> Bool {
        counts.withLock { counts in
            let earlier = counts[Refusal(status: status.code, code: code), default: 0]
            counts[Refusal(status: status.code, code: code)] = earlier + 1
            return earlier > 0
        }
    }

    /// Writes the lines of a minute, and begins the next one.
    private func write(_ logger: Logger) {
        let counts = counts.withLock { counts in
            defer { counts = [:] }
            return counts
        }
        for (refusal, count) in counts.sorted(by: { $0.key.code < $1.key.code }) where count > 1 {
            logger.log(
                level: refusal.status == HTTPResponse.Status.serviceUnavailable.code ? .warning : .info,
                "more notifications were refused",
                metadata: [
                    "status": .stringConvertible(refusal.status), "code": "\(refusal.code)",
                    "notifications": .stringConvertible(count - 1),
                ])
        }
    }

    /// Writes the lines once a minute, and once more when the server stops.
    struct LogLines: Service {
        let refused: RefusedNotifications
        let logger: Logger

        func run() async throws {
            await repeatUntilStop(every: RefusedNotifications.interval) { refused.write(logger) }
        }
    }
}
