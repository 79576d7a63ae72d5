import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("The timeline of a customer, on each engine", .tags(.everyEngine))
struct CustomerTimelineTests {
    @Test("It has the events and the rejected claims, page by page, also of a merged customer")
    func pages() async throws {
        try await LedgerWorld.with { world in
            _ = try await world.claim("1", try LedgerWorld.signed("1"))
            world.clock.advance(seconds: 10)
            _ = try await world.claim("9", try LedgerWorld.signed("1"))
            world.clock.advance(seconds: 10)
            _ = try await world.ledger.perform(MergeCustomers(app: "example", customerID: "alice", into: "bob"))
            for limit in 1...4 {
                var (types, cursor): ([String], TimelineCursor?) = ([], nil)
                repeat {
                    let page = try await world.ledger.answer(
                        CustomerTimeline(app: "example", customerID: "alice", cursor: cursor, limit: limit))
                    #expect(page.mergedInto == "bob" && page.entries.count <= limit)
                    types += page.entries.map { $0.message.code ?? $0.message.type }
                    cursor = page.next
                } while cursor != nil
                #expect(types == ["granted", "transaction_not_found", "customer_merged"], "\(limit)")
            }
        }
    }
}
