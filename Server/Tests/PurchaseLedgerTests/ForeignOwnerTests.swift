import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Writes that meet the purchases of many other customers.
@Suite("Evidence of many owners")
struct ForeignOwnerTests {
    private static let owners = 64

    /// Gives each owner a purchase.
    private func pieces(_ world: LedgerWorld) async throws -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        for number in 0..<Self.owners {
            let piece = try LedgerWorld.signed("\(1000 + number)")
            #expect(try await world.claim("\(1000 + number)", customer: "owner \(number)", piece).code == "accepted")
            pieces.append(piece)
        }
        return pieces
    }

    @Test("D.1 A restore and an import that meet the purchases of 64 other customers are answered on every engine")
    func manyOwners() async throws {
        try await LedgerWorld.with { world in
            let pieces = try await pieces(world)
            let restored = try await world.ledger.restore(
                RestoreSubmission(app: "example", customerID: "mallory", evidence: pieces))
            #expect(restored.purchases.map(\.code) == pieces.map { _ in "already_claimed" })
            let rows = pieces.enumerated().map { number, piece in
                world.ledger.examine(
                    ImportSubmission(customerID: "newcomer \(number)", evidence: [piece]), app: "example")
            }
            let imported = try await world.ledger.perform(
                ImportPurchases(app: "example", isAnnounced: false, consumables: .balance, rows))
            #expect(imported.map(\.code) == pieces.map { _ in "already_claimed" })
            for number in 0..<Self.owners {
                #expect(try await world.entitlement(of: "owner \(number)")?.balance == 1)
            }
        }
    }

    @Test("D.1 A receipt with the purchases of 64 other customers, who were merged since, is answered on every engine")
    func mergedOwners() async throws {
        try await LedgerWorld.with { world in
            let purchases = (0..<Self.owners).map { number in
                PurchaseTemplate.consumable(
                    productID: LedgerWorld.coins, transactionID: "\(2000 + number)", purchaseDate: MintedWorld.moment)
            }
            for (number, purchase) in purchases.enumerated() {
                _ = try await world.claim(
                    "\(2000 + number)", customer: "owner \(number)", try LedgerWorld.receipt([purchase]))
            }
            for number in 0..<Self.owners where number % 2 == 1 {
                try await world.ledger.perform(
                    MergeCustomers(app: "example", customerID: "owner \(number)", into: "owner \(number - 1)"))
            }
            let receipts = [
                try LedgerWorld.receipt(purchases), try LedgerWorld.receipt(purchases.reversed()),
            ]
            let restored = try await world.ledger.restore(
                RestoreSubmission(app: "example", customerID: "mallory", evidence: receipts))
            #expect(restored.purchases.map(\.code) == purchases.map { _ in "already_claimed" })
            let imported = try await world.ledger.perform(
                ImportPurchases(
                    app: "example", isAnnounced: false, consumables: .balance,
                    receipts.map {
                        world.ledger.examine(
                            ImportSubmission(customerID: "newcomer", evidence: [$0]), app: "example")
                    }))
            #expect(imported.map(\.code) == ["already_claimed", "already_claimed"])
        }
    }
}
