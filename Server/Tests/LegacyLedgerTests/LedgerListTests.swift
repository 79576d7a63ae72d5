import EvidenceMint
import Foundation
import LegacyLedger
import PurchaseVerification
import TestSupport
import Testing

/// What can be asked of the ledger in pages and by filters.
@Suite("Lists of the ledger")
struct LedgerListTests {
    @Test("Lists come in pages that lose nothing and repeat nothing", arguments: Engine.allCases)
    func pages(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            let templates = (0..<25).map { number in
                PurchaseTemplate.consumable(
                    productID: "com.example.app.coins", transactionID: "t\(number)", purchaseDate: MintedWorld.moment)
            }
            let evidence = try LedgerWorld.evidence(templates)
            for number in 0..<25 {
                _ = try await world.order()
                _ = try await world.ledger.submit(world.submission("t\(number)", evidence: evidence))
            }
            let app = world.app.id
            let (orders, purchases, submissions) = try await world.ledger.read { reader in
                var (orders, purchases, submissions): ([String], [String], [String]) = ([], [], [])
                var orderPage: OrderPage?
                repeat {
                    let page = try reader.orders(.created, customerID: "alice", app: app, page: orderPage, limit: 10)
                    orders += page.orders.map(\.id)
                    orderPage = page.next
                } while orderPage != nil
                var purchasePage: PurchasePage?
                repeat {
                    let page = try reader.purchases(of: "alice", app: app, page: purchasePage, limit: 10)
                    purchases += page.purchases.map(\.transactionID)
                    purchasePage = page.next
                } while purchasePage != nil
                var before: Int64?
                var filter = SubmissionFilter()
                filter.verdict = .accepted
                repeat {
                    let page = try reader.submissions(filter, app: app, before: before, limit: 10)
                    submissions += page.submissions.map(\.id)
                    before = page.next
                } while before != nil
                return (orders, purchases, submissions)
            }
            #expect(orders.count == 25 && Set(orders).count == 25)
            #expect(purchases.count == 25 && Set(purchases) == Set(templates.compactMap(\.transactionID)))
            #expect(submissions.count == 25 && Set(submissions).count == 25)
        }
    }

    @Test("Submissions are found by customer, order, transaction, verdict, code and time", arguments: Engine.allCases)
    func filters(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            let order = try await world.order("bob")
            let evidence = try LedgerWorld.evidence()
            _ = try await world.ledger.submit(world.submission(customer: nil, order: order.id, evidence: evidence))
            world.clock.advance(seconds: 10)
            let time = world.clock.now
            _ = try await world.ledger.submit(world.submission("9", customer: "carol", evidence: evidence))
            let app = world.app.id
            func codes(_ change: (inout SubmissionFilter) -> Void) async throws -> [String] {
                var filter = SubmissionFilter()
                change(&filter)
                let chosen = filter
                return try await world.ledger.read {
                    try $0.submissions(chosen, app: app, limit: 10).submissions.map(\.code)
                }
            }
            #expect(try await codes { _ in } == ["transaction_not_found", "accepted"])
            #expect(try await codes { $0.customerID = "bob" } == ["accepted"], "the claim named only his order")
            #expect(try await codes { $0.customerID = "carol" } == ["transaction_not_found"])
            #expect(try await codes { $0.customerID = "dora" } == [])
            #expect(try await codes { $0.orderID = order.id } == ["accepted"])
            #expect(try await codes { $0.transactionID = "9" } == ["transaction_not_found"])
            #expect(try await codes { $0.verdict = .rejected } == ["transaction_not_found"])
            #expect(try await codes { $0.code = "accepted" } == ["accepted"])
            #expect(try await codes { $0.from = time } == ["transaction_not_found"])
            #expect(try await codes { $0.to = time } == ["accepted"])
            let other = try await world.ledger.read {
                try $0.submissions(SubmissionFilter(), app: "another app", limit: 10).submissions
            }
            #expect(other.isEmpty)
        }
    }
}
