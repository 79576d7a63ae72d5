import Dispatch
import Foundation
import HTTPTypes
import Logging
import NIOCore
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

/// A database that does not answer.
@Suite("A database that stands still")
struct StalledDatabaseTests {
    var world: PurchaseServerWorld { CurrentWorld.opened() }

    @Test(
        "B.5 While the database stands still, a claim gets 503 with Retry-After in time, and the log has one line a second with the number"
    )
    func stalled() async throws {
        let log = RecordingLog()
        try await PurchaseServerWorld.run(logger: log.logger(.info)) {
            $0.limits.answerSeconds = 0.5
        } _: { world async throws in
            let claim = try PurchaseServerWorld.purchase()
            let start = ContinuousClock.now
            // All are answered while the write is held.
            try await HeldWrite.during(world.ledger) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<20 {
                        group.addTask { () async throws in
                            let answer = try await world.send(.post, "/v1/purchases", claim, as: .client)
                            #expect(answer.status == 503 && answer.headers[.retryAfter] != nil, "\(answer.text)")
                            // On a busy machine the look-up of the key can be the late one, of which the outcome is
                            // known.
                            let codes = ["database_outcome_unknown", "database_unavailable"]
                            #expect(codes.contains(try answer.problem ?? ""))
                            #expect(try answer.document?.disposition == .retry)
                        }
                    }
                    try await group.waitForAll()
                }
            }
            var (later, refused) = (try await world.send(.post, "/v1/purchases", claim, as: .client), 20)
            // A busy machine can need more than the time for an answer once more.
            while later.status == 503, refused < 100 {
                refused += 1
                later = try await world.send(.post, "/v1/purchases", claim, as: .client)
            }
            #expect(later.status == 200)
            var lines: [RecordingLog.Line] = []
            for _ in 0..<6000 {
                guard Self.requests(lines) < refused else { break }
                try await Task.sleep(for: .milliseconds(100))
                lines = log.lines.filter { $0.message == "database failed" }
            }
            #expect(Self.requests(lines) == refused)
            let seconds = Int((ContinuousClock.now - start) / .seconds(1))
            #expect((1...seconds + 2).contains(lines.count))
            #expect(log.requests.count { $0.facts["status"] == "503" } == 0)
        }
    }

    /// The number of requests that lines of the log tell of.
    private static func requests(_ lines: [RecordingLog.Line]) -> Int {
        lines.compactMap { $0.facts["requests"].flatMap { Int($0) } }.reduce(0, +)
    }

    @Test(
        "B.5 A request whose answer takes longer than the time for idle connections is answered",
        .server { $0.limits.idleSeconds = 1 })
    func longerThanIdle() async throws {
        let claim = try PurchaseServerWorld.purchase()
        let answer = try await HeldWrite.during(world.ledger) {
            let answer = Task { try await world.send(.post, "/v1/purchases", claim, as: .client) }
            try await Task.sleep(for: .seconds(3))
            return answer
        }
        #expect(try await answer.value.status == 200)
    }
}

/// A write that keeps the database's writer busy until it is released, however slow the machine is.
final class HeldWrite: LedgerOperation {
    private let end = DispatchSemaphore(value: 0)
    private let isRunning = Mutex(false)

    func perform(_: LedgerTransaction) {
        isRunning.withLock { $0 = true }
        end.wait()
    }

    /// Occupies the writer while a body runs.
    static func during<Value: Sendable>(
        _ ledger: PurchaseLedger, _ body: () async throws -> Value
    ) async throws -> Value {
        let write = HeldWrite()
        let writing = Task { try await ledger.perform(write) }
        while !write.isRunning.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        write.end.signal()
        try await writing.value
        return try result.get()
    }
}

/// `/healthz` and `/readyz`, which wait for nothing.
@Suite("Readiness")
struct ReadinessTests {
    var world: PurchaseServerWorld { CurrentWorld.opened() }

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

    @Test(
        "B.1 While every verifying thread is busy and the queue is full, /healthz and /readyz are answered",
        .server { $0.limits.waitingVerifications = 0 })
    func busy() async throws {
        for _ in 0..<50 {
            #expect(try await world.send(.get, "/healthz", as: nil).status == 200)
            #expect(try await world.send(.get, "/readyz", as: nil).status == 200)
        }
    }
}
