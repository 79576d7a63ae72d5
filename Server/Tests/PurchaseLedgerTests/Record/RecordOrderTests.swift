import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Attacks by somebody who can write to the database and has no key: the numbers of two authentic entries are
/// exchanged, and the tables are changed to what a replay by number gives.
@Suite("A.1 The order of the record", .tags(.everyEngine))
struct RecordOrderTests {
    @Test(
        "A.1 Exchanging the numbers of two claims of one copied receipt does not give the thief the purchase",
        .enabled(if: TestEngine.ownsTables))
    func copiedReceipt() async throws {
        try await OrderedWorld.with { ordered in
            let world = ordered.world
            let receipt = try LedgerWorld.receipt([
                .consumable(
                    productID: LedgerWorld.coins, transactionID: "1", purchaseDate: MintedWorld.moment, quantity: 3)
            ])
            #expect(try await world.claim("1", customer: "alice", receipt).code == "accepted")
            #expect(try await world.claim("1", customer: "mallory", receipt).code == "already_claimed")
            try await ordered.sealing.round()
            #expect(try await ordered.findings() == [])
            let claims = try await ordered.entries(.claim)
            try await ordered.swap(
                claims[0], claims[1],
                [
                    "UPDATE transactions SET owner_key = \(Self.mallory)",
                    "UPDATE lots SET customer_key = \(Self.mallory)",
                    "UPDATE entitlements SET customer_key = \(Self.mallory)",
                    "UPDATE events SET customer_key = \(Self.mallory)",
                ])
            #expect(try await world.entitlement(of: "mallory", environment: .sandbox)?.balance == 3)
            #expect(try await ordered.findings().contains("order_differs"))
            #expect(try await ordered.findings(isVerifyingEvidence: false).contains("order_differs"))
            // A rebuild does not adopt the order either.
            try await TemporaryFolder.with { folder in
                let path = folder.appending(path: "rebuilt.sqlite").path
                let outcome = try await world.ledger.rebuild(to: path, in: folder)
                #expect(!outcome.isRebuilt && !FileManager.default.fileExists(atPath: path))
                #expect(outcome.report.findings.contains { $0.kind == .orderDiffers })
            }
        }
    }

    private static let mallory = "(SELECT customer_key FROM customers WHERE name = 'mallory')"

    @Test(
        "A.1 Exchanging the numbers of key_created and key_revoked does not hide a key that is valid again",
        .enabled(if: TestEngine.ownsTables))
    func revokedKey() async throws {
        try await OrderedWorld.with { ordered in
            let ledger = ordered.world.ledger
            let key = try await ledger.perform(CreateAPIKey(app: "example", name: "old", scopes: [.admin]))
            _ = try await ledger.perform(RevokeAPIKey(id: key.key.id))
            try await ordered.sealing.round()
            #expect(try await ordered.findings() == [])
            let (created, revoked) = (
                try await ordered.entries(.keyCreated)[0], try await ordered.entries(.keyRevoked)[0]
            )
            try await ordered.swap(created, revoked, ["UPDATE api_keys SET revoked_at = NULL"])
            #expect(try await ledger.answer(APIKeyLookup(try #require(APIKeyText(key.text)))) != nil)
            for evidence in [true, false] {
                let findings = try await ordered.findings(isVerifyingEvidence: evidence)
                #expect(findings.contains("order_differs") && findings.contains("row_differs"), "\(findings)")
            }
        }
    }

    @Test(
        "A.1 Exchanging the numbers of a tester's two entries does not hide that they are a tester again",
        .enabled(if: TestEngine.ownsTables))
    func tester() async throws {
        try await OrderedWorld.with { ordered in
            let ledger = ordered.world.ledger
            for isTester in [true, false] {
                _ = try await ledger.perform(ChangeTester(app: "example", customerID: "dora", isTester: isTester))
            }
            try await ordered.sealing.round()
            #expect(try await ordered.findings() == [])
            let changes = try await ordered.entries(.testersChanged)
            try await ordered.swap(
                changes[0], changes[1],
                [
                    """
                    INSERT INTO testers (app_key, customer_key, entry_key)
                    SELECT app_key, customer_key, \(changes[1]) FROM customers WHERE name = 'dora'
                    """
                ])
            for evidence in [true, false] {
                let findings = try await ordered.findings(isVerifyingEvidence: evidence)
                #expect(findings.contains("order_differs") && findings.contains("row_unknown"), "\(findings)")
            }
        }
    }

    @Test(
        "A.1 Exchanging the numbers of a manual grant and its end does not hide that it counts again",
        .enabled(if: TestEngine.ownsTables))
    func liftedGrant() async throws {
        try await OrderedWorld.with { ordered in
            let ledger = ordered.world.ledger
            let grant = try await ledger.perform(
                GrantByHand(
                    app: "example", customerID: "alice", productID: LedgerWorld.coins, quantity: 5, reason: "gift"))
            try await ledger.perform(LiftByHand(app: "example", customerID: "alice", id: grant))
            try await ordered.sealing.round()
            #expect(try await ordered.findings() == [])
            let (granted, lifted) = (
                try await ordered.entries(.grantAdded)[0], try await ordered.entries(.actLifted)[0]
            )
            try await ordered.swap(
                granted, lifted,
                [
                    "UPDATE hand_grants SET lifted_at = NULL",
                    "UPDATE lots SET withdrawn = 0, available = 5, reason = ''",
                    "UPDATE entitlements SET balance = 5, reason = NULL",
                ])
            #expect(try await ordered.world.entitlement()?.balance == 5)
            let findings = try await ordered.findings()
            #expect(findings.contains("order_differs") && findings.contains("row_differs"), "\(findings)")
            #expect(try await ordered.findings(isVerifyingEvidence: false).contains("order_differs"))
        }
    }

    @Test(
        "A.1 A recorded decision that the entries before it do not give is a finding: claims, restores and imports",
        .enabled(if: TestEngine.ownsTables))
    func decisions() async throws {
        try await OrderedWorld.with { ordered in
            let world = ordered.world
            let order = try await world.order()
            #expect(try await world.claim("1", order: order.id, try LedgerWorld.signed("1")).code == "accepted")
            #expect(
                try await world.claim("2", order: order.id, try LedgerWorld.signed("2")).code == "order_already_paid")
            let copies = try ["11", "12"].map { id in
                try LedgerWorld.signed(id) { $0.originalTransactionID = "11" }
            }
            for copy in copies {
                _ = try await world.ledger.restore(
                    RestoreSubmission(app: "example", customerID: "bob", evidence: [copy]))
            }
            for customer in ["carol", "dora"] {
                let row = ImportSubmission(customerID: customer, evidence: [try LedgerWorld.signed("21")])
                _ = try await world.ledger.perform(
                    ImportPurchases(
                        app: "example", isAnnounced: true, consumables: .balance,
                        [world.ledger.examine(row, app: "example")]))
            }
            #expect(try await world.ledger.audit().findings == [])
            let claims = try await ordered.entries(.claim)
            #expect(claims.count == 6)
            for pair in [0, 2, 4] {
                // Nothing is sealed, so only the decisions tell.
                try await ordered.swapEverywhere(claims[pair], claims[pair + 1])
                let findings = try await world.ledger.audit().findings.map(\.kind)
                #expect(findings.contains(.decisionDiffers) && !findings.contains(.orderDiffers), "\(findings)")
                try await ordered.swapEverywhere(claims[pair], claims[pair + 1])
            }
            #expect(try await world.ledger.audit().findings == [])
        }
    }
}
