import Foundation
import Logging
package import PurchaseLedger
import PurchaseVerification
import ServiceLifecycle
import Synchronization

/// The API keys that were looked up a moment ago, so that not every request asks the database for its key.
///
/// Only valid keys are remembered, for half a second from the start of their lookup. So a revocation by any process
/// takes effect within a second.
package final class KeyCache: Sendable {
    /// The time for which a key is valid without a new lookup, in seconds.
    package static let lifetime = 0.5
    /// More keys than an operator creates. Beyond this number, all are looked up again.
    private static let largestCount = 4096

    private let ledger: PurchaseLedger
    private let deadlines: AnswerDeadlines
    private let uptime: @Sendable () -> Double
    private let state = Mutex(State())

    private struct State {
        /// By the SHA-256 of the text, so that timing the comparison reveals nothing about the text.
        var keys: [[UInt8]: (key: APIKey, until: Double)] = [:]
        var lookups = 0
    }

    /// - Parameters:
    ///   - ledger: knows the keys.
    ///   - deadlines: the time limit of a lookup.
    ///   - uptime: seconds since any moment, never going back.
    package init(
        ledger: PurchaseLedger, deadlines: AnswerDeadlines = AnswerDeadlines(seconds: 20),
        uptime: @escaping @Sendable () -> Double
    ) {
        self.ledger = ledger
        self.deadlines = deadlines
        self.uptime = uptime
    }

    /// The key for a received text, if it is valid and was not revoked a moment ago.
    package func key(_ text: APIKeyText) async throws -> APIKey? {
        let (time, digest) = (uptime(), text.sha256)
        let known = state.withLock { state -> APIKey? in
            if let known = state.keys[digest], known.until > time { return known.key }
            state.lookups += 1
            return nil
        }
        if let known { return known }
        let key = try await TimedLedger(ledger: ledger, deadlines: deadlines).answer(APIKeyLookup(text))
        state.withLock { state in
            if state.keys.count >= Self.largestCount { state.keys = [:] }
            state.keys[digest] = key.map { ($0, time + Self.lifetime) }
        }
        return key
    }

    /// The number of lookups in the database.
    package var lookups: Int { state.withLock { $0.lookups } }
}

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
