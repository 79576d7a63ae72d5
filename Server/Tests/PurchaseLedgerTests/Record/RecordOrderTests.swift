import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Attacks by somebody who can write to the database and has no key: the numbers of two authentic entries are
/// exchanged, and the tables are changed to what a replay by number gives.
@Suite("A.1 The order of the record", .tags(.everyEngine), .ordered)
struct RecordOrderTests {
    var folder: URL { CurrentWorld.opened() }
    let ordered: OrderedWorld = CurrentWorld.opened()

    @Test(
        "A.1 Exchanging the numbers of two claims of one copied receipt does not give the thief the purchase",
        .enabled(if: TestEngine.ownsTables), .folder)
    func copiedReceipt() async throws {
        let world = ordered.world
        let receipt = try LedgerWorld.receipt([
            .consumable(productID: LedgerWorld.coins, transactionID: "1", purchaseDate: MintedWorld.moment, quantity: 3)
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
        let path = folder.appending(path: "rebuilt.sqlite").path
        let outcome = try await world.ledger.rebuild(to: path, in: folder)
        #expect(!outcome.isRebuilt && !FileManager.default.fileExists(atPath: path))
        #expect(outcome.report.findings.contains { $0.kind == .orderDiffers })
    }

    private static let mallory = "(SELECT customer_key FROM customers WHERE name = 'mallory')"

    @Test(
        "A.1 Exchanging the numbers of key_created and key_revoked does not hide a key that is valid again",
        .enabled(if: TestEngine.ownsTables))
    func revokedKey() async throws {
        let ledger = ordered.world.ledger
        let key = try await ledger.perform(CreateAPIKey(app: "example", name: "old", scopes: [.admin]))
        _ = try await ledger.perform(RevokeAPIKey(id: key.key.id))
        try await ordered.sealing.round()
        #expect(try await ordered.findings() == [])
        let (created, revoked) = (try await ordered.entries(.keyCreated)[0], try await ordered.entries(.keyRevoked)[0])
        try await ordered.swap(created, revoked, ["UPDATE api_keys SET revoked_at = NULL"])
        #expect(try await ledger.answer(APIKeyLookup(try #require(APIKeyText(key.text)))) != nil)
        for evidence in [true, false] {
            let findings = try await ordered.findings(isVerifyingEvidence: evidence)
            #expect(findings.contains("order_differs") && findings.contains("row_differs"), "\(findings)")
        }
    }

    @Test(
        "A.1 Exchanging the numbers of a tester's two entries does not hide that they are a tester again",
        .enabled(if: TestEngine.ownsTables))
    func tester() async throws {
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

    @Test(
        "A.1 Exchanging the numbers of a manual grant and its end does not hide that it counts again",
        .enabled(if: TestEngine.ownsTables))
    func liftedGrant() async throws {
        let ledger = ordered.world.ledger
        let grant = try await ledger.perform(
            GrantByHand(
                app: "example", customerID: "alice", productID: LedgerWorld.coins, quantity: 5, reason: "gift"))
        try await ledger.perform(LiftByHand(app: "example", customerID: "alice", id: grant))
        try await ordered.sealing.round()
        #expect(try await ordered.findings() == [])
        let (granted, lifted) = (try await ordered.entries(.grantAdded)[0], try await ordered.entries(.actLifted)[0])
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

    @Test(
        "A.1 A recorded decision that the entries before it do not give is a finding: claims, restores and imports",
        .enabled(if: TestEngine.ownsTables))
    func decisions() async throws {
        let world = ordered.world
        let order = try await world.order()
        #expect(try await world.claim("1", order: order.id, try LedgerWorld.signed("1")).code == "accepted")
        #expect(try await world.claim("2", order: order.id, try LedgerWorld.signed("2")).code == "order_already_paid")
        let copies = try ["11", "12"].map { id in
            try LedgerWorld.signed(id) { $0.originalTransactionID = "11" }
        }
        for copy in copies {
            try await world.restore(of: "bob", [copy])
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

@Suite("32 Counts by hour", .tags(.everyEngine), .ordered)
struct HourlyCountTests {
    let ordered: OrderedWorld = CurrentWorld.opened()

    /// The counts as lines, of the whole time.
    private func counts(_ ordered: OrderedWorld, app: String = "example") async throws -> [String] {
        let now = ordered.world.clock.now.millisecondsSince1970
        let query = HourlyCounts(
            app: app, from: Timestamp(millisecondsSince1970: 0), to: Timestamp(millisecondsSince1970: now + 3_600_000))
        return try await ordered.world.ledger.answer(query).map { "\($0.hour) \($0.kind) \($0.code) \($0.count)" }
            .sorted()
    }

    /// The same, from every leaf of the journal.
    private func expected(_ ordered: OrderedWorld) async throws -> [String] {
        let leaves = try await ordered.database.read(.lists) { connection in
            try connection.rows("SELECT leaf FROM journal", []).compactMap { row -> JournalLeaf? in
                guard case .blob(let bytes) = row.values[0] else { return nil }
                return JournalLeaf(bytes: Array(bytes))
            }
        }
        let kinds = Dictionary(grouping: leaves.filter { $0.app == "example" }) { leaf in
            let hour = leaf.at.millisecondsSince1970 / 3_600_000 * 3_600_000
            return "\(Timestamp(millisecondsSince1970: hour)) \(leaf.kind.name) \(leaf.code)"
        }
        return kinds.map { "\($0.key) \($0.value.count)" }.sorted()
    }

    @Test("32 Each entry counts once, in its hour and with its code, however many servers seal, and nothing twice")
    func everyEntry() async throws {
        let world = ordered.world
        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        _ = try await world.claim("1", customer: "mallory", try LedgerWorld.signed("1"))
        try await ordered.sealing.round()
        _ = try await world.claim("2", try LedgerWorld.signed("2"))
        world.clock.advance(seconds: 3600)
        _ = try await world.claim("3", try LedgerWorld.signed("3"))
        _ = try await world.order("bob")
        async let one = ordered.sealing.round()
        async let other = ordered.sealing.round()
        _ = try await (one, other)
        try await ordered.sealing.round()
        let counts = try await counts(ordered)
        #expect(counts == (try await expected(ordered)))
        #expect(counts.contains { $0.contains("claim accepted 2") } && counts.contains { $0.contains(" 1") })
        #expect(try await self.counts(ordered, app: "other") == [])
        #expect(try await ordered.findings() == [])
    }

    @Test("32 Refusals that share an entry count with their number and codes")
    func refusals() async throws {
        let junk: [[UInt8]] = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
        try await ordered.world.restore(of: "alice", [try LedgerWorld.signed("1")] + junk)
        try await ordered.sealing.round()
        let refused = try await counts(ordered).filter { $0.contains(" refusals ") }
        #expect(refused.count == 1 && refused[0].hasSuffix(" 3"), "\(refused)")
    }

    @Test("32 Hours that are older than 400 days are deleted, others are kept")
    func lifetime() async throws {
        _ = try await ordered.world.claim("1", try LedgerWorld.signed("1"))
        try await ordered.sealing.round()
        let first = try await counts(ordered)
        ordered.world.clock.advance(days: 400)
        _ = try await ordered.world.order("bob")
        try await ordered.sealing.round()
        let rows = try await number(ordered)
        #expect(rows == first.count + 1)
        ordered.world.clock.advance(seconds: 7200)
        _ = try await ordered.world.order("carol")
        try await ordered.sealing.round()
        #expect(try await number(ordered) == 2)
    }

    private func number(_ ordered: OrderedWorld) async throws -> Int {
        try await ordered.database.read(.lists) { connection in
            try connection.rows("SELECT hour FROM hourly_counts WHERE app = 'example'", []).count
        }
    }
}
