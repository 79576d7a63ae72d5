import Foundation
import Logging
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

@Suite("30.3 Answers of verifyReceipt whose state was not read")
struct StateMissTests {
    @Test("The first is logged at once, the others together with their number, without the text of unknown errors")
    func misses() async throws {
        struct Failure: Error { let secret = "hunter2" }
        let recording = RecordingLog()
        let log = StateMissLog(period: .milliseconds(300), logger: recording.logger(.info))
        let deadlines = ShortDeadlines(uptime: TestUptime().read, missed: log.note)
        let missed: Int? = await deadlines.run(within: 0.05) {
            throw LedgerStorageError(.unavailable, "the server closed the connection")
        }
        #expect(missed == nil)
        let first = try #require(recording.lines.first)
        #expect(first.level == .warning)
        #expect(
            first.facts == [
                "answers": "1", "failed": "1", "code": "database_unavailable",
                "error": "the server closed the connection",
            ])
        for _ in 0..<1000 {
            let missed: Int? = await deadlines.run(within: 0.05) { throw Failure() }
            #expect(missed == nil)
        }
        log.note(.late)
        log.note(.notMade)
        func count() -> Int { recording.lines.compactMap { $0.facts["answers"].flatMap { Int($0) } }.reduce(0, +) }
        for _ in 0..<600 where count() < 1003 { try await Task.sleep(for: .milliseconds(20)) }
        #expect(count() == 1003)
        #expect(recording.lines.allSatisfy { !"\($0.facts)".contains("hunter2") })
        for kind in ["late", "not_made"] { #expect(recording.lines.contains { $0.facts[kind] == "1" }) }
        // An answer with state, or one of which the ledger knows nothing, is no miss.
        #expect(await deadlines.run(within: 0.05) { 1 } == 1)
        let nothing: Int? = await deadlines.run(within: 0.05) { nil }
        #expect(nothing == nil && count() == 1003)
    }
}
