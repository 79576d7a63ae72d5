import Foundation
import HTTPTypes
import Hummingbird
import PurchaseLedger
import PurchaseVerification
import Synchronization

/// A token bucket for each name, in bounded memory.
///
/// The buckets are in two generations. When the younger is full it becomes the older, and the older is discarded: a
/// name that was not seen for that long starts with a full bucket again.
package final class RateLimiter: Sendable {
    private let generationSize: Int
    private let uptime: @Sendable () -> Double
    private let state: Mutex<State>

    private struct Bucket {
        var tokens: Double
        /// Seconds since some moment.
        var time: Double
    }

    private struct State {
        var limit: RateLimit
        // By bytes, because hashing hostile Unicode as a string takes quadratic time.
        var young: [[UInt8]: Bucket] = [:]
        var old: [[UInt8]: Bucket] = [:]
    }

    /// - Parameters:
    ///   - limit: the limit of each name.
    ///   - names: the maximum number of remembered names.
    ///   - uptime: seconds since any moment, never going back.
    package init(
        _ limit: RateLimit, names: Int = 65_536,
        uptime: @escaping @Sendable () -> Double = { ProcessInfo.processInfo.systemUptime }
    ) {
        state = Mutex(State(limit: limit))
        self.uptime = uptime
        generationSize = max(1, names / 2)
    }

    /// Changes the limit of each name. Tokens beyond the new burst are discarded.
    func limit(to limit: RateLimit) { state.withLock { $0.limit = limit } }

    /// The tokens that each name has now.
    var currentLimit: RateLimit { state.withLock { $0.limit } }

    /// Takes a token.
    ///
    /// - Parameter name: whose.
    /// - Returns: `nil` if there was one; otherwise the number of seconds until there is one.
    package func take(_ name: [UInt8]) -> Double? {
        let time = uptime()
        return state.withLock { state in
            var bucket = bucket(name, state, time)
            let wait = state.limit.wait(bucket.tokens)
            if wait == nil { bucket.tokens -= 1 }
            if state.young[name] == nil, state.young.count >= generationSize {
                state.old = state.young
                state.young = [:]
            }
            state.young[name] = bucket
            return wait
        }
    }

    /// Takes further tokens for a request that was admitted and turned out to cost more. If there are fewer, the name
    /// owes the rest, and its next requests wait for it.
    ///
    /// - Parameters:
    ///   - name: whose.
    ///   - tokens: how many.
    ///   - isBounded: whether the debt ends at one burst, because requests in progress can add up.
    package func charge(_ name: [UInt8], tokens: Double, isBounded: Bool = false) {
        let time = uptime()
        state.withLock { state in
            var bucket = bucket(name, state, time)
            bucket.tokens -= tokens
            if isBounded { bucket.tokens = max(-state.limit.burst, bucket.tokens) }
            state.young[name] = bucket
        }
    }

    /// Takes further tokens for a request that was admitted and turned out to cost more, unless the name owes tokens
    /// already. So a name never owes more than one request costs, however many are in progress.
    ///
    /// - Parameters:
    ///   - name: whose.
    ///   - tokens: how many.
    /// - Returns: `nil` if they were taken; otherwise the number of seconds until the name owes nothing.
    package func takeMore(_ name: [UInt8], tokens: Double) -> Double? {
        let time = uptime()
        return state.withLock { state in
            var bucket = bucket(name, state, time)
            guard bucket.tokens >= 0 else { return -bucket.tokens / state.limit.perSecond }
            bucket.tokens -= tokens
            state.young[name] = bucket
            return nil
        }
    }

    /// Gives back tokens that were taken for a request that then cost nothing.
    func giveBack(_ name: [UInt8], tokens: Double = 1) {
        let time = uptime()
        state.withLock { state in
            guard state.young[name] != nil || state.old[name] != nil else { return }
            var bucket = bucket(name, state, time)
            bucket.tokens = min(state.limit.burst, bucket.tokens + tokens)
            if state.young[name] != nil { state.young[name] = bucket } else { state.old[name] = bucket }
        }
    }

    /// The number of seconds until there is a token; `nil` if there is one. It takes no token.
    package func wait(_ name: [UInt8]) -> Double? {
        let time = uptime()
        return state.withLock { state in state.limit.wait(bucket(name, state, time).tokens) }
    }

    private func bucket(_ name: [UInt8], _ state: State, _ time: Double) -> Bucket {
        var bucket = state.young[name] ?? state.old[name] ?? Bucket(tokens: state.limit.burst, time: time)
        bucket.tokens = min(
            state.limit.burst, bucket.tokens + max(0, time - bucket.time) * state.limit.perSecond)
        bucket.time = max(time, bucket.time)
        return bucket
    }

    /// The number of names that are remembered.
    package var count: Int { state.withLock { $0.young.count + $0.old.count } }
}

/// The requests of the day (UTC) that a limit of this server refused with 429, by the code of the answer. `/readyz` has
/// the numbers, for `assay doctor`; each server counts its own.
final class LimitedRequests: RouterMiddleware, Sendable {
    private static let millisecondsOfDay: Int64 = 86_400_000

    private let clock: @Sendable () -> Timestamp
    private let state = Mutex<(day: Int64, counts: [String: Int])>((0, [:]))

    init(clock: @escaping @Sendable () -> Timestamp) { self.clock = clock }

    func handle(
        _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        let response = try await next(request, context)
        if response.status == .tooManyRequests { count(response.headers[.assayReason] ?? "other") }
        return response
    }

    private func count(_ code: String) {
        let day = clock().millisecondsSince1970 / Self.millisecondsOfDay
        state.withLock { state in
            if state.day != day { state = (day, [:]) }
            state.counts[code, default: 0] += 1
        }
    }

    /// The number of today's requests by code; the codes are the server's own.
    var today: [String: Int] {
        let day = clock().millisecondsSince1970 / Self.millisecondsOfDay
        return state.withLock { $0.day == day ? $0.counts : [:] }
    }
}
