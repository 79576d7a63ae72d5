import EvidenceMint
import Foundation
import PurchaseLedger
import TestSupport
import Testing

/// Restores and imports of many pieces about few purchases. The replay of the audit reads everything again for each
/// entry, so it finds where a write saw its own pieces differently.
@Suite("Random restores and imports of many pieces", .tags(.everyEngine))
struct RandomRestoreTests {
    /// Transactions with overlapping originals, in several versions each.
    private struct Pieces {
        var generator: SeededGenerator
        let tokens: [UUID]

        mutating func restore(_ count: Int) throws -> [[UInt8]] {
            var pieces: [[UInt8]] = []
            for _ in 0..<count { pieces.append(try piece()) }
            return pieces
        }

        private mutating func piece() throws -> [UInt8] {
            let transaction = try transaction()
            switch Int.random(in: 0..<8, using: &generator) {
            case 0 where transaction.type == .autoRenewableSubscription:
                var renewal = RenewalInfoTemplate(transaction: transaction)
                renewal.isInBillingRetryPeriod = Bool.random(using: &generator)
                return try MintedWorld.mint(renewal)
            case 1 where transaction.type == .autoRenewableSubscription:
                return try MintedWorld.mint(
                    NotificationTemplate(
                        notificationType: "DID_RENEW", transaction: transaction,
                        renewalInfo: RenewalInfoTemplate(transaction: transaction)))
            default:
                return try MintedWorld.mint(transaction)
            }
        }

        private mutating func transaction() throws -> SignedTransactionTemplate {
            let number = Int.random(in: 1...4, using: &generator)
            let signed = MintedWorld.moment.addingTimeInterval(Double(Int.random(in: 2...9, using: &generator)) * 3600)
            let isRefunded = Int.random(in: 0..<5, using: &generator) == 0
            // Newer data can name another original.
            let original = Int.random(in: 0..<6, using: &generator) == 0 ? 1 : number
            let token = Int.random(in: 0..<6, using: &generator) == 0 ? tokens.randomElement(using: &generator) : nil
            let kinds: [(String, String, SignedTransactionTemplate.ProductType)] = [
                ("1", LedgerWorld.coins, .consumable), ("2", LedgerWorld.pro, .nonConsumable),
                ("3", LedgerWorld.monthly, .autoRenewableSubscription), ("4", "unknown", .consumable),
                ("5", LedgerWorld.pass, .nonRenewingSubscription),
            ]
            let (prefix, product, kind) = kinds[Int.random(in: 0..<kinds.count, using: &generator)]
            return LedgerWorld.template("\(prefix)0\(number)", product: product, kind: kind) {
                $0.originalTransactionID = kind == .autoRenewableSubscription ? "\(prefix)01" : "\(prefix)0\(original)"
                $0.signedDate = signed
                if kind == .autoRenewableSubscription {
                    $0.purchaseDate = MintedWorld.moment.addingTimeInterval(Double(number) * 30 * 86_400)
                    $0.expiresDate = $0.purchaseDate?.addingTimeInterval(30 * 86_400)
                }
                if isRefunded { $0.revocationDate = signed }
                $0.appAccountToken = token?.uuidString
            }
        }
    }

    @Test("33.3 Each is replayed with the same facts, owners, balances and orders", arguments: 1...12)
    func replayed(seed: UInt64) async throws {
        try await LedgerWorld.with({ $0.transfer = seed % 2 == 0 ? .move : .deny }) { world in
            let customers = ["alice", "bob"]
            let tokens = [UUID(), UUID()]
            for (customer, token) in zip(customers, tokens) {
                _ = try await world.ledger.perform(AssignToken(app: "example", customerID: customer, token: token))
                _ = try await world.order(customer)
                _ = try await world.order(customer, product: LedgerWorld.pro)
            }
            var pieces = Pieces(generator: SeededGenerator(seed: seed), tokens: tokens)
            for round in 0..<4 {
                let customer = customers[round % 2]
                let evidence = try pieces.restore(8)
                guard round < 3 else {
                    let row = ImportSubmission(customerID: customer, evidence: evidence)
                    _ = try await world.ledger.perform(
                        ImportPurchases(
                            app: "example", isAnnounced: true, consumables: seed % 3 == 0 ? .delivered : .balance,
                            [row, row].map { world.ledger.examine($0, app: "example") }))
                    continue
                }
                _ = try await world.ledger.restore(
                    RestoreSubmission(app: "example", customerID: customer, evidence: evidence))
            }
            try await world.requireConsistency()
        }
    }
}
