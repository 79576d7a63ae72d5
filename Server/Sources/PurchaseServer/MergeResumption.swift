import Logging
import PurchaseLedger
import ServiceLifecycle

/// Continues a merge of customers whose process ended before all rows had followed: at the start, and once a minute for another
/// server's.
struct MergeResumption: Service {
    private static let interval = Duration.seconds(60)

    let ledger: PurchaseLedger
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            do {
                while true {
                    await finish()
                    try await Task.sleep(for: Self.interval)
                }
            } catch {
                // The server stops.
            }
        }
    }

    private func finish() async {
        do {
            try await ledger.finishMerges()
        } catch {
            // The next minute continues.
            logger.warning("a merge was not continued", metadata: ["error": "\(type(of: error))"])
        }
    }
}
