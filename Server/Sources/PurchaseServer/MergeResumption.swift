import Logging
import PurchaseLedger
import ServiceLifecycle

/// Moves the rows of a merge of customers that the request did not wait for, or whose process ended before all rows had
/// followed.
struct MergeResumption: Service {
    /// How often it looks for a merge.
    private static let interval = Duration.seconds(5)
    private static let intervalAfterFailure = Duration.seconds(60)

    let ledger: PurchaseLedger
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            do {
                while true {
                    try await Task.sleep(for: await finish() ? Self.interval : Self.intervalAfterFailure)
                }
            } catch {
                // The server stops.
            }
        }
    }

    /// - Returns: whether no merge is in progress any more.
    private func finish() async -> Bool {
        do {
            try await ledger.finishMerges()
            return true
        } catch {
            logger.warning("a merge was not continued", metadata: ["error": "\(error)"])
            return false
        }
    }
}
