import Logging
import PurchaseLedger
import ServiceLifecycle

/// Does work again and again while the server runs, and once more when it stops.
///
/// - Parameters:
///   - interval: the time between two times.
///   - work: handles its own errors.
func repeatUntilStop(every interval: Duration, _ work: @escaping @Sendable () async -> Void) async {
    await cancelWhenGracefulShutdown {
        do {
            while true {
                try await Task.sleep(for: interval)
                await work()
            }
        } catch {
            // The server stops.
        }
    }
    await work()
}

/// Records the refusals beyond the daily budget once a minute, and once more when the server stops. A process that is
/// killed loses at most the counts of the last minute.
struct RefusalRecording: Service {
    /// The time between two entries of a key.
    private static let interval = Duration.seconds(60)

    let ledger: PurchaseLedger
    let logger: Logger

    func run() async throws {
        await repeatUntilStop(every: Self.interval) { await write() }
    }

    private func write() async {
        do {
            try await ledger.recordCountedRefusals()
        } catch {
            // The next minute records them.
            logger.warning("counted refusals were not recorded", metadata: ["error": "\(type(of: error))"])
        }
    }
}
