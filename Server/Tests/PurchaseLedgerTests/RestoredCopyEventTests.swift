import EvidenceMint
import Foundation
import PurchaseLedger
import TestSupport
import Testing

/// Restoring with the original API gives a purchase another transaction id each time.
@Suite("Events of restored copies")
struct RestoredCopyEventTests {
    @Test("A purchase is granted once and a period renewed once, in every order of their copies")
    func copies() async throws {
        let evidence = [
            try pro("1"), try pro("11"), try pro("12"),
            try period("901", from: 0), try period("9011", from: 0), try period("902", from: 30),
            try period("9021", from: 30),
        ]
        for order in [[0, 1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1, 0], [2, 4, 0, 6, 1, 3, 5], [1, 5, 3, 0, 4, 6, 2]] {
            try await LedgerWorld.with { world in
                for place in order {
                    _ = try await world.claim(
                        evidence[place].id, product: evidence[place].product, evidence[place].bytes)
                }
                let events = try await world.events()
                #expect(events.count { $0 == "granted" } == 2, "\(order): \(events)")
                #expect(events.count { $0 == "renewed" } == 1, "\(order): \(events)")
                try await world.requireConsistency()
            }
        }
    }

    @Test("A receipt that has a purchase and its copies grants it once")
    func receipt() async throws {
        try await LedgerWorld.with { world in
            let purchases = ["1", "11", "12"].map { id -> PurchaseTemplate in
                var purchase = PurchaseTemplate(
                    productID: LedgerWorld.pro, transactionID: id, purchaseDate: MintedWorld.moment)
                purchase.productType = .nonConsumable
                purchase.originalTransactionID = "1"
                return purchase
            }
            _ = try await world.claim("11", product: LedgerWorld.pro, try LedgerWorld.receipt(purchases))
            #expect(try await world.events() == ["granted"])
            try await world.requireConsistency()
        }
    }

    @Test("A copy that belongs to a member of the family is granted to that member")
    func family() async throws {
        try await LedgerWorld.with { world in
            let (own, shared) = (try pro("1"), try pro("21") { $0.inAppOwnershipType = "FAMILY_SHARED" })
            _ = try await world.claim("1", product: LedgerWorld.pro, own.bytes)
            _ = try await world.claim("21", product: LedgerWorld.pro, customer: "bob", shared.bytes)
            #expect(try await world.events() == ["granted", "granted"])
            try await world.requireConsistency()
        }
    }

    private typealias Evidence = (id: String, product: String, bytes: [UInt8])

    private func pro(
        _ id: String, _ change: (inout SignedTransactionTemplate) -> Void = { _ in }
    ) throws -> Evidence {
        let bytes = try LedgerWorld.signed(id, product: LedgerWorld.pro, kind: .nonConsumable) {
            $0.originalTransactionID = "1"
            change(&$0)
        }
        return (id, LedgerWorld.pro, bytes)
    }

    private func period(_ id: String, from start: Double) throws -> Evidence {
        (id, LedgerWorld.monthly, try LedgerWorld.period(id, from: start) { $0.webOrderLineItemID = "item-\(start)" })
    }
}
