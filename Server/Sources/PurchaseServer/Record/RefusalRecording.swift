import Logging
import PurchaseLedger
import ServiceLifecycle

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
