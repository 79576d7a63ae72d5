import Foundation
import HTTPTypes
import PurchaseLedger
import PurchaseServer
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

/// `/healthz` and `/readyz`, which wait for nothing.
@Suite("Readiness")
struct ReadinessTests {
    private final class Time: Sendable {
        private let now = Mutex(ContinuousClock.now)
        var read: @Sendable () -> ContinuousClock.Instant { { self.now.withLock { $0 } } }
        func advance(_ duration: Duration) { now.withLock { $0 = $0 + duration } }
    }

    @Test("B.1 Before the first check and five seconds after the last one that ended, a server is not ready")
    func stale() async {
        let time = Time()
        let monitor = ReadinessMonitor(now: time.read) {}
        #expect(monitor.state == .unknown)
        await monitor.refresh()
        #expect(monitor.state == .ready)
        time.advance(.milliseconds(4999))
        #expect(monitor.state == .ready)
        time.advance(.milliseconds(1))
        #expect(monitor.state == .unknown)
        await monitor.refresh()
        #expect(monitor.state == .ready)
    }

    @Test("B.1 A check that hangs makes the last result stale, and nobody waits for it")
    func hanging() async throws {
        let time = Time()
        let (stream, gate) = AsyncStream<Void>.makeStream()
        let checks = Counter()
        let monitor = ReadinessMonitor(now: time.read) {
            if checks.increment() == 2 { for await _ in stream { break } }
        }
        await monitor.refresh()
        let hanging = Task { await monitor.refresh() }
        #expect(monitor.state == .ready)
        time.advance(ReadinessMonitor.longestAge)
        #expect(monitor.state == .unknown)
        gate.yield()
        await hanging.value
        #expect(monitor.state == .ready)
    }

    @Test("B.1 The error of the last check is the answer", arguments: [LedgerStorageError.Kind.full, .unavailable])
    func failed(kind: LedgerStorageError.Kind) async {
        let monitor = ReadinessMonitor { throw LedgerStorageError(kind, "") }
        await monitor.refresh()
        #expect(monitor.state == .failed(kind))
    }

    @Test("B.1 While every verifying thread is busy and the queue is full, /healthz and /readyz are answered")
    func busy() async throws {
        try await PurchaseServerWorld.run {
            $0.limits.waitingVerifications = 0
        } _: { world async throws in
            for _ in 0..<50 {
                #expect(try await world.send(.get, "/healthz", as: nil).status == 200)
                #expect(try await world.send(.get, "/readyz", as: nil).status == 200)
            }
        }
    }
}
