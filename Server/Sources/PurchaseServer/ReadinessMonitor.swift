package import PurchaseLedger
import ServiceLifecycle
import Synchronization

/// Whether the server can work, as one task found it a moment ago. `/readyz` reads it without waiting for anything.
package final class ReadinessMonitor: Service {
    /// The time between two checks. A check writes about as much as a small purchase does.
    package static let interval = Duration.seconds(1)
    /// The age at which a result no longer counts: a check that takes so long means that the database does not answer.
    package static let longestAge = Duration.seconds(5)
    /// The time that the start of the server waits for the first result.
    private static let firstWait = Duration.seconds(2)

    private let check: @Sendable () async throws -> Void
    private let now: @Sendable () -> ContinuousClock.Instant
    private let latest = Mutex<(state: State, time: ContinuousClock.Instant)?>(nil)

    /// What a check found.
    package enum State: Sendable, Equatable {
        case ready
        /// Reads or writes fail.
        case failed(LedgerStorageError.Kind)
        /// No check has ended for too long.
        case unknown
    }

    /// - Parameters:
    ///   - check: throws if the server cannot work.
    ///   - now: the time, which never goes back.
    package init(
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        check: @escaping @Sendable () async throws -> Void
    ) {
        self.check = check
        self.now = now
    }

    /// A monitor of a ledger.
    convenience init(_ ledger: PurchaseLedger) {
        self.init { try await ledger.perform(ProbeReadiness()) }
    }

    /// The state now.
    package var state: State {
        guard let latest = latest.withLock({ $0 }), now() - latest.time < Self.longestAge else { return .unknown }
        return latest.state
    }

    /// Checks once.
    package func refresh() async {
        var state = State.ready
        do {
            try await check()
        } catch let error as LedgerStorageError {
            state = .failed(error.kind)
        } catch {
            state = .failed(.other)
        }
        let found = (state, now())
        latest.withLock { $0 = found }
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.refresh()
                do {
                    try await Task.sleep(for: Self.interval)
                } catch {
                    // The server ends.
                    return
                }
            }
        }
    }

    /// Waits for the first result, so that a server is ready from its first request on, but no longer than a moment:
    /// the database may be away.
    func waitForFirst() async {
        let deadline = now() + Self.firstWait
        while latest.withLock({ $0 == nil }), now() < deadline {
            do {
                try await Task.sleep(for: .milliseconds(5))
            } catch {
                return
            }
        }
    }
}
