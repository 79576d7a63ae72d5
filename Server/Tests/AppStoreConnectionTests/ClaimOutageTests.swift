import AppStoreConnection
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import Testing

@Suite("Claims during an outage of the store", .serialized)
struct ClaimOutageTests {
    @Test(
        "An hour's outage by the clock, with 1,000 purchases waiting: all end by themselves after it, each granted once"
    )
    func hour() async throws {
        try await AppStoreClaimWorld.run(.apple, answersWithin: .milliseconds(50)) { configuration, _ in
            // A thousand claims can arrive faster than one backend may send them.
            configuration.limits.perKey = RateLimit(perSecond: 100_000, burst: 100_000)
        } _: { world in
            var bought: [(customer: String, BoughtReceipt)] = []
            for number in 0..<1000 {
                let customer = "customer-\(number / 20)"
                if number % 20 == 0 {
                    try await world.store.post(
                        "customers", ["customer_id": customer, "environment": "production"])
                }
                bought.append((customer, try await world.store.buy(by: customer, "transaction_receipt")))
            }
            try await world.store.post(
                "faults/answers", ["kind": "outage", "from": "2026-01-31T12:10:00Z", "until": "2026-01-31T13:10:00Z"])
            try await world.store.post("clock", ["time": "2026-01-31T12:10:00Z"])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, (customer, receipt)) in bought.enumerated() {
                    if number >= 32 { try await group.next() }
                    group.addTask {
                        let answer = try await world.claim(receipt, by: customer)
                        #expect(answer.status == 503 && answer.code == "app_store_pending", "\(answer)")
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await world.ledger.answer(CountWork(.claim)).count == 1000)
            // An hour passes, in which one probe after another fails.
            for _ in 0..<30 {
                world.clock.advance(seconds: 120)
                world.connectionClock.advance(.seconds(120))
                try await Task.sleep(for: .milliseconds(60))
            }
            #expect(try await world.granted() == 0)
            #expect(try await world.ledger.answer(CountWork(.claim)).count == 1000)
            try await world.store.post("clock", ["time": "2026-01-31T13:10:00Z"])
            // From here on, only time passes.
            world.connectionClock.advance(.seconds(20))
            world.clock.advance(seconds: 700)
            try await world.settle(movesConnection: true)
            #expect(try await world.granted() == 1000)
            let events = try await world.ledger.answer(EventList(app: "game", limit: 100_000))
            #expect(events.count { $0.type == "claim_decided" } == 1000)
            for (customer, receipt) in bought.prefix(20) {
                let answer = try await world.claim(receipt, by: customer)
                #expect(answer.status == 200 && answer.isReplayed)
            }
        }
    }

    @Test("After 72 hours without an answer a claim ends, and can be sent again")
    func givesUp() async throws {
        try await AppStoreClaimWorld.run(.apple) { world in
            let bought = try await world.store.buy()
            try await world.store.post("faults/answers", ["kind": "outage", "count": 100_000])
            let answer = try await world.claim(bought)
            #expect(answer.status == 503)
            world.connectionClock.advance(.seconds(60))
            world.clock.advance(seconds: 72 * 3600)
            try await world.settle()
            let submission = try await world.get("/v1/submissions/\(answer.submission?.uuidString ?? "")")
            #expect(submission.contains(#""code":"app_store_unanswered""#), "\(submission)")
            _ = try await world.store.call("faults", .delete)
            world.connectionClock.advance(.seconds(60))
            let again = try await world.claim(bought)
            #expect(again.status == 200 && !again.isReplayed, "\(again)")
            #expect(try await world.granted() == 1)
        }
    }

    @Test("Apple's reply is stored as received; the secret is in no entry")
    func record() async throws {
        try await AppStoreClaimWorld.run(.apple) { world in
            let bought = try await world.store.buy("gold")
            let answer = try await world.claim(bought, product: "gold")
            #expect(answer.status == 200, "\(answer)")
            let decision = try await world.get("/v1/submissions/\(answer.submission?.uuidString ?? "")")
            let claims = try await world.ledger.answer(SubmissionList(app: "game", limit: 10)).entries
            let claim = try #require(claims.first)
            #expect(decision.contains(#""decides":"\#(claim.submissionID)""#), "\(decision)")
            let id = try #require(claim.appStoreAnswerID)
            let reply = try await world.get("/v1/submissions/\(id)/evidence")
            #expect(reply.contains(#""status":0"#) && reply.contains(bought.transaction))
            for text in [decision, reply, try await world.get("/v1/submissions?limit=10")] {
                #expect(!text.contains(ConnectionWorld.secret))
            }
        }
    }

    @Test("A claim of an app with a wrong secret is refused, for the operator to correct the settings")
    func secret() async throws {
        try await AppStoreClaimWorld.run(.apple) { configuration, _ in
            configuration.sharedSecrets = [ConnectionWorld.app: "wrong"]
        } _: { world in
            let bought = try await world.store.buy("gold")
            let answer = try await world.claim(bought, product: "gold")
            #expect(
                answer.status == 422 && answer.code == "app_store_secret_mismatch" && answer.disposition == "operator")
            #expect(try await world.granted() == 0)
        }
    }
}
