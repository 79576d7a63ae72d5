import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// The time limit for reads that an answer can do without. A call that takes longer gives nothing, and the answer is
/// sent without it.
///
/// A database that stands still would make every answer wait for the limit. So while two calls are late, which is as
/// many as there are connections that read keys of PostgreSQL, no further call is made; when one of them returns, the
/// calls go on.
package final class ShortDeadlines: Sendable {
    /// How many late calls stop further ones.
    private static let lateLimit = 2
    /// How many calls may wait at the same time. More would only queue behind each other in the database.
    private static let waitingLimit = 256

    /// Why a call gave nothing.
    package enum Miss: Sendable {
        /// It failed within its limit.
        case failed(any Error)
        /// It took longer than its limit.
        case late
        /// It was not made, because others are late or too many wait.
        case notMade
    }

    private let uptime: @Sendable () -> Double
    private let missed: @Sendable (Miss) -> Void
    private let state = Mutex(State())

    private struct State {
        var waiting: [UInt64: Call] = [:]
        /// The calls that took longer and have not returned yet.
        var late: Set<UInt64> = []
        var nextID: UInt64 = 0
        var isScheduled = false
    }

    private struct Call {
        let deadline: Double
        let limit: Double
        let giveUp: @Sendable () -> Void
    }

    /// - Parameters:
    ///   - uptime: seconds since any moment, never going back.
    ///   - missed: told about each call that gave nothing.
    package init(uptime: @escaping @Sendable () -> Double, missed: @escaping @Sendable (Miss) -> Void = { _ in }) {
        (self.uptime, self.missed) = (uptime, missed)
    }

    /// Runs a call.
    ///
    /// - Parameters:
    ///   - seconds: the limit.
    ///   - body: the call, which is not interrupted.
    /// - Returns: its value; `nil` if it fails, takes longer, or is not made.
    package func run<Value: Sendable>(
        within seconds: Double, _ body: @escaping @Sendable () async throws -> Value?
    ) async -> Value? {
        await withUnsafeContinuation { continuation in
            guard let id = add(within: seconds, giveUp: { continuation.resume(returning: nil) }) else {
                missed(.notMade)
                return continuation.resume(returning: nil)
            }
            Task {
                do {
                    let value = try await body()
                    if end(id) { continuation.resume(returning: value) }
                } catch {
                    // Whatever the error is, the answer is sent without the value.
                    guard end(id) else { return }
                    missed(.failed(error))
                    continuation.resume(returning: nil)
                }
            }
        }
    }

    /// How many calls somebody waits for.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }
    /// How many calls took longer than their limit and have not returned.
    package var lateCount: Int { state.withLock { $0.late.count } }

    /// - Returns: the number of the call; `nil` if it is not made.
    private func add(within seconds: Double, giveUp: @escaping @Sendable () -> Void) -> UInt64? {
        let now = uptime()
        let (id, isFirst) = state.withLock { state -> (UInt64?, Bool) in
            guard state.late.count < Self.lateLimit, state.waiting.count < Self.waitingLimit else {
                return (nil, false)
            }
            state.nextID += 1
            state.waiting[state.nextID] = Call(deadline: now + seconds, limit: seconds, giveUp: giveUp)
            defer { state.isScheduled = true }
            return (state.nextID, !state.isScheduled)
        }
        if isFirst { schedule(in: seconds) }
        return id
    }

    /// Ends a call that returned.
    ///
    /// - Returns: whether somebody still waits for it.
    private func end(_ id: UInt64) -> Bool {
        state.withLock { state in
            state.late.remove(id)
            return state.waiting.removeValue(forKey: id) != nil
        }
    }

    /// One timer looks at all calls, so a call that returns in time costs none.
    private func schedule(in seconds: Double) {
        MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: .microseconds(Int64(max(0.001, seconds) * 1e6))) {
            self.giveUpLateCalls()
        }
    }

    private func giveUpLateCalls() {
        let now = uptime()
        let (late, next) = state.withLock { state -> ([Call], Double?) in
            let late = state.waiting.filter { $0.value.deadline <= now }
            for id in late.keys {
                state.waiting[id] = nil
                state.late.insert(id)
            }
            // A clock that stands still is looked at again after the limit.
            let next = state.waiting.values.map { min($0.limit, $0.deadline - now) }.min()
            state.isScheduled = next != nil
            return (late.values.map(\.self), next)
        }
        for call in late {
            missed(.late)
            call.giveUp()
        }
        if let next { schedule(in: next) }
    }
}

extension ShortDeadlines.Miss {
    /// The kinds, as the log names them.
    package enum Kind: String, Sendable {
        case failed
        case late
        case notMade = "not_made"
    }

    /// The kind, without the error.
    package var kind: Kind {
        switch self {
        case .failed: .failed
        case .late: .late
        case .notMade: .notMade
        }
    }
}
