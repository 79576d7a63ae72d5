package import PurchaseLedger
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
