import Foundation
import Logging
import PurchaseLedger
import PurchaseVerification
import ServiceLifecycle
import Synchronization

/// Notes when API keys are used, and writes it once a minute, so that no request waits for it.
final class KeyUses: Sendable {
    /// The time between two writes.
    private static let interval = Duration.seconds(60)

    private let uses = Mutex<[String: Timestamp]>([:])

    /// Notes a use of a key now.
    func note(_ id: String) {
        let now = Timestamp(Date())
        uses.withLock { $0[id] = now }
    }

    /// The uses since the last call.
    private func take() -> [String: Timestamp] {
        uses.withLock { uses in
            defer { uses = [:] }
            return uses
        }
    }

    /// Notes uses again that could not be written. Later ones stay.
    private func putBack(_ taken: [String: Timestamp]) {
        uses.withLock { $0.merge(taken) { later, _ in later } }
    }

    /// Writes the uses while the server runs, and once more when it stops.
    struct Recording: Service {
        let uses: KeyUses
        let ledger: PurchaseLedger
        let logger: Logger

        func run() async throws {
            await repeatUntilStop(every: KeyUses.interval) { await write() }
        }

        private func write() async {
            let taken = uses.take()
            guard !taken.isEmpty else { return }
            do {
                try await ledger.perform(NoteKeyUses(taken))
            } catch {
                // Only the list of keys shows it, and the next minute writes it again.
                uses.putBack(taken)
                logger.debug("the uses of keys were not written", metadata: ["error": "\(type(of: error))"])
            }
        }
    }
}
