import Foundation
import HTTPTypes
import Logging
import NIOCore
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import ServerTestSupport
import TestSupport
import Testing

/// A database that does not answer.
@Suite("A database that stands still")
struct StalledDatabaseTests {
    /// Keeps the writer busy.
    private struct Stall: LedgerOperation {
        let seconds: Double

        func perform(_: LedgerTransaction) { Thread.sleep(forTimeInterval: seconds) }
    }

    @Test(
        "B.5 While the database stands still, a claim gets 503 with Retry-After in time, and the log has one line a second with the number"
    )
    func stalled() async throws {
        let log = RecordingLog()
        try await PurchaseServerWorld.run(logger: log.logger(.info)) {
            $0.limits.answerSeconds = 0.5
        } _: { world async throws in
            let claim = try PurchaseServerWorld.purchase()
            async let stall: Void = world.ledger.perform(Stall(seconds: 4))
            try await Task.sleep(for: .milliseconds(200))
            let start = ContinuousClock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask { () async throws in
                        let answer = try await world.send(.post, "/v1/purchases", claim, as: .client)
                        #expect(answer.status == 503 && answer.headers[.retryAfter] != nil, "\(answer.text)")
                        #expect(try answer.problem == "database_outcome_unknown")
                        #expect(try answer.document?.disposition == .retry)
                    }
                }
                try await group.waitForAll()
            }
            #expect(ContinuousClock.now - start < .seconds(3))
            try await stall
            #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
            try await Task.sleep(for: .milliseconds(1200))
            let lines = log.lines.filter { $0.message == "database failed" }
            #expect((1...4).contains(lines.count))
            #expect(lines.compactMap { $0.facts["requests"].flatMap { Int($0) } }.reduce(0, +) == 20)
            #expect(log.requests.count { $0.facts["status"] == "503" } == 0)
        }
    }

    @Test("B.5 A request whose answer takes longer than the time for idle connections is answered")
    func longerThanIdle() async throws {
        try await PurchaseServerWorld.run {
            $0.limits.idleSeconds = 1
        } _: { world async throws in
            async let stall: Void = world.ledger.perform(Stall(seconds: 3))
            try await Task.sleep(for: .milliseconds(200))
            let claim = try PurchaseServerWorld.purchase()
            #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
            try await stall
        }
    }
}
