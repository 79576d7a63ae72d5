import EvidenceMint
import Foundation
import PurchaseLedger
import TestSupport
import Testing

/// The pieces of one restore in every order: all are observed before any is decided.
@Suite("The order of a restore's pieces", .ledger)
struct RestoreOrderTests {
    let world: LedgerWorld = CurrentWorld.opened()

    /// The pieces of a case, about transactions whose ids begin with a text, and the expected codes.
    struct Pieces: Sendable, CustomTestStringConvertible {
        let name: String
        /// The code of each transaction, by the end of its id.
        let codes: [String: String]
        let isActive: Bool
        let evidence: @Sendable (_ prefix: String) throws -> [[UInt8]]

        var testDescription: String { name }
    }

    private static func day(_ days: Double) -> Date { MintedWorld.moment.addingTimeInterval(3600 + days * 86_400) }

    /// A period of 30 days from day 0, signed on a day.
    private static func period(
        _ prefix: String, signedOn signed: Double, refundedOn refunded: Double? = nil, days: Double = 30
    ) -> SignedTransactionTemplate {
        LedgerWorld.template(prefix + "1", product: LedgerWorld.monthly) {
            $0.originalTransactionID = prefix + "0"
            $0.expiresDate = day(days)
            $0.revocationDate = refunded.map(day)
            $0.signedDate = day(signed)
        }
    }

    private static func notification(
        _ type: String, _ transaction: SignedTransactionTemplate
    ) throws -> [UInt8] {
        try MintedWorld.mint(
            NotificationTemplate(
                notificationType: type, transaction: transaction,
                renewalInfo: RenewalInfoTemplate(transaction: transaction)))
    }

    private static func receipt(_ prefix: String, createdOn created: Double, days: Double = 30) throws -> [UInt8] {
        let purchase = PurchaseTemplate.subscription(
            productID: LedgerWorld.monthly, transactionID: prefix + "1", originalTransactionID: prefix + "0",
            purchaseDate: day(0), originalPurchaseDate: day(0), expiresDate: day(days))
        return try MintedWorld.mint(
            AppReceiptTemplate.production(
                bundleID: "com.example.app", creationDate: day(created), purchases: [purchase]))
    }

    static let cases = [
        Pieces(name: "a refund that a notification reverses", codes: ["1": "accepted"], isActive: true) { prefix in
            var renewal = RenewalInfoTemplate(transaction: period(prefix, signedOn: 0.5))
            renewal.isInBillingRetryPeriod = true
            return [
                try MintedWorld.mint(period(prefix, signedOn: 0.5, refundedOn: 0.2)),
                try notification("REFUND_REVERSED", period(prefix, signedOn: 1)),
                try MintedWorld.mint(renewal), try receipt(prefix, createdOn: 0.1),
            ]
        },
        Pieces(name: "a notification of a refund", codes: ["1": "purchase_revoked"], isActive: false) { prefix in
            [
                try MintedWorld.mint(period(prefix, signedOn: 0.1)),
                try notification("REFUND", period(prefix, signedOn: 1, refundedOn: 0.5)),
                try notification("SUBSCRIBED", period(prefix, signedOn: 0)), try receipt(prefix, createdOn: 0.1),
            ]
        },
        Pieces(name: "an ended period in its grace period", codes: ["1": "accepted"], isActive: true) { prefix in
            var renewal = RenewalInfoTemplate(transaction: period(prefix, signedOn: 1, days: 1))
            renewal.isInBillingRetryPeriod = true
            renewal.gracePeriodExpiresDate = day(16)
            return [
                try MintedWorld.mint(period(prefix, signedOn: 0, days: 1)), try MintedWorld.mint(renewal),
                try receipt(prefix, createdOn: 0.1, days: 1),
            ]
        },
        Pieces(
            name: "an upgrade in a notification", codes: ["1": "purchase_upgraded", "2": "accepted"], isActive: true
        ) { prefix in
            var upgraded = period(prefix, signedOn: 1)
            upgraded.isUpgraded = true
            let yearly = LedgerWorld.template(
                prefix + "2", product: LedgerWorld.yearly
            ) {
                $0.originalTransactionID = prefix + "0"
                $0.purchaseDate = day(1)
                $0.originalPurchaseDate = day(0)
                $0.expiresDate = day(366)
                $0.signedDate = day(1)
            }
            return [
                try MintedWorld.mint(period(prefix, signedOn: 0)),
                try notification("DID_CHANGE_RENEWAL_PREF", yearly), try MintedWorld.mint(upgraded),
                try receipt(prefix, createdOn: 0.1),
            ]
        },
        Pieces(name: "a product and its refund", codes: ["1": "purchase_revoked"], isActive: false) { prefix in
            func bought(_ signed: Double, refundedOn refunded: Double? = nil) throws -> [UInt8] {
                try LedgerWorld.signed(prefix + "1", product: LedgerWorld.pro) {
                    $0.signedDate = day(signed)
                    $0.revocationDate = refunded.map(day)
                }
            }
            return [
                try bought(0), try bought(1, refundedOn: 0.5), try bought(0.2),
                try MintedWorld.mint(
                    AppReceiptTemplate.production(
                        bundleID: "com.example.app", creationDate: day(0.1),
                        purchases: [
                            .nonConsumable(
                                productID: LedgerWorld.pro, transactionID: prefix + "1", purchaseDate: day(0))
                        ])),
            ]
        },
    ]

    private static func orders(of count: Int) -> [[Int]] {
        guard count > 0 else { return [[]] }
        return orders(of: count - 1).flatMap { order in
            (0..<count).map { place in order.prefix(place) + [count - 1] + order.suffix(order.count - place) }
        }
    }

    @Test(
        "C.13 A restore of receipts, transactions, notifications and renewal info decides the same in every order",
        arguments: cases)
    func orders(of pieces: Pieces) async throws {
        world.clock.advance(days: 3)
        for (number, order) in Self.orders(of: try pieces.evidence("").count).enumerated() {
            let (prefix, customer) = ("\(100 + number)0", "customer \(number)")
            let evidence = try pieces.evidence(prefix)
            let restore = RestoreSubmission(app: "example", customerID: customer, evidence: order.map { evidence[$0] })
            for isRepeated in [false, true] {
                let outcome = try await world.ledger.restore(restore)
                let codes = Dictionary(
                    uniqueKeysWithValues: outcome.purchases.map {
                        (String($0.transactionID.dropFirst(prefix.count)), $0.code)
                    })
                #expect(codes == pieces.codes, "\(order)")
                #expect(outcome.purchases.allSatisfy { $0.isReplayed == isRepeated }, "\(order)")
                let accepted = outcome.purchases.filter { $0.code == "accepted" }
                #expect(accepted.allSatisfy { $0.disposition == .granted }, "\(order)")
                #expect(outcome.entitlements.contains { $0.state == .active } == pieces.isActive, "\(order)")
                let present = try await world.entitlements(of: customer).entitlements.filter { entitlement in
                    outcome.purchases.contains { $0.productID == entitlement.productID }
                }
                #expect(outcome.entitlements == present, "\(order)")
            }
        }
    }

    @Test("C.13 The purchases in the answer to a restore have the order of the evidence")
    func answers() async throws {
        func receipt(_ ids: [String]) throws -> [UInt8] {
            try MintedWorld.mint(
                AppReceiptTemplate.production(
                    bundleID: "com.example.app", creationDate: Self.day(0),
                    purchases: ids.map {
                        .consumable(productID: LedgerWorld.coins, transactionID: $0, purchaseDate: Self.day(0))
                    }))
        }
        let pieces = [
            try receipt(["4", "2"]), try LedgerWorld.signed("3"), try LedgerWorld.signed("1"),
            try LedgerWorld.signed("2") { $0.signedDate = Self.day(0.01) },
        ]
        for (order, ids) in [
            ([0, 1, 2, 3], ["2", "4", "3", "1"]), ([3, 2, 1, 0], ["2", "1", "3", "4"]),
            ([1, 0, 3, 2], ["3", "2", "4", "1"]),
        ] {
            let outcome = try await world.restore(of: "alice", order.map { pieces[$0] })
            let found = outcome.purchases.map(\.transactionID)
            // A receipt is a set: its purchases have the order of its bytes.
            #expect(found == ids || found == ids.map { ["2": "4", "4": "2"][$0] ?? $0 }, "\(order)")
        }
    }
}
