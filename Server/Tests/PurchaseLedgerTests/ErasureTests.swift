import Crypto
import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Erasing a person", .tags(.everyEngine))
struct ErasureTests {
    private static let name = "alice-of-4711"
    private static let reason = "asked by letter"

    private func erase(_ world: LedgerWorld) async throws -> EraseCustomer.Outcome {
        try await world.ledger.perform(EraseCustomer(app: "example", customerID: Self.name, reason: Self.reason))
    }

    /// All data that a customer can leave in the tables.
    private func live(_ world: LedgerWorld) async throws -> (token: UUID, evidence: [[UInt8]]) {
        // A rejected claim before the name was known.
        _ = try await world.claim("404", customer: Self.name, try LedgerWorld.signed("403"))
        let order = try await world.ledger.perform(
            CreateOrder(
                app: "example",
                OrderDraft(
                    customerID: Self.name, productID: LedgerWorld.coins, quantity: 3, metadata: "for \(Self.name)"),
                once: IdempotentRequest(sender: ["key"], key: "1", method: "POST", path: "/v1/orders", body: [1]))
        ).order
        let token = order.appAccountToken
        let signed = try LedgerWorld.signed("1") {
            $0.quantity = 3
            $0.appAccountToken = token.uuidString.lowercased()
        }
        _ = try await world.claim("1", customer: Self.name, order: order.id, signed)
        _ = try await world.consume(1, "used-by-\(Self.name)", of: Self.name)
        let period = try LedgerWorld.period("901", from: 0) { $0.appAccountToken = token.uuidString.lowercased() }
        try await world.observe(period)
        try await world.observe(period)
        let receipt = try LedgerWorld.receipt([
            PurchaseTemplate(
                productID: LedgerWorld.pro, transactionID: "5", purchaseDate: MintedWorld.moment)
        ])
        _ = try await world.ledger.restore(
            RestoreSubmission(app: "example", customerID: "guest of \(Self.name)", evidence: [receipt]))
        try await world.ledger.perform(
            MergeCustomers(
                app: "example", customerID: "guest of \(Self.name)", into: Self.name, reason: "was \(Self.name)"))
        _ = try await world.ledger.perform(
            GrantByHand(
                app: "example", customerID: Self.name, productID: LedgerWorld.coins, quantity: 2,
                reason: "gift to \(Self.name)"))
        _ = try await world.ledger.perform(ChangeTester(app: "example", customerID: Self.name, isTester: true))
        _ = try await world.ledger.perform(
            RevokeByHand(
                app: "example", customerID: Self.name, .purchase(transactionID: "5", environment: nil),
                reason: "by \(Self.name)"))
        return (token, [signed, period, receipt])
    }

    /// The columns that contain some bytes.
    private func places(of needle: [UInt8], _ world: LedgerWorld) async throws -> [String] {
        let tables = world.database.dialect.schemaQuery
        return try await world.database.read(.lists) { connection in
            var places: [String] = []
            for table in try connection.rows(tables, []) {
                guard case .text(let kind)? = table.values.first, kind == "table",
                    case .text(let name) = table.values[1]
                else { continue }
                for row in try connection.rows("SELECT * FROM \(name)", []) {
                    for (column, value) in row.values.enumerated() {
                        let bytes: [UInt8] =
                            switch value {
                            case .text(let text): Array(text.utf8)
                            case .blob(let blob): blob
                            case .integer, .null: []
                            }
                        if Data(bytes).range(of: Data(needle)) != nil { places.append("\(name) \(column)") }
                    }
                }
            }
            return places
        }
    }

    @Test("Afterwards no table contains the name, the token or the evidence, and neither does a vacuumed file")
    func nothingLeft() async throws {
        try await TemporaryFolder.with { folder in
            let file = folder.appending(path: "assay.sqlite")
            let database = try SQLiteDatabase(path: file.path)
            let world = try await LedgerWorld(database)
            let (token, evidence) = try await live(world)
            let needles = [
                Array(Self.name.utf8), Array(token.uuidString.lowercased().utf8), token.bytes,
            ]
            for needle in needles { #expect(try await !places(of: needle, world).isEmpty) }
            let erased = try await erase(world)
            // They include the transaction of the refused claim: nobody else has it.
            #expect(erased.transactions == 4 && erased.evidence == 4 && erased.keptEvidence == 0)
            for needle in needles { #expect(try await places(of: needle, world) == []) }
            for bytes in evidence {
                let hash = Array(SHA256.hash(data: bytes))
                #expect(try await world.ledger.answer(EvidenceByHash(sha256: hash)) == nil)
                #expect(try await !places(of: hash, world).isEmpty)
            }
            #expect(try await world.ledger.audit().findings == [])
            try await database.close()
            let tidy = try SQLiteDatabase(path: file.path)
            try await tidy.vacuum()
            try await tidy.close()
            let bytes = try Data(contentsOf: file)
            for needle in needles { #expect(bytes.range(of: Data(needle)) == nil) }
        }
    }

    @Test(
        "The customer is gone, and a claim of one of the purchases gets purchase_erased",
        arguments: [
            TransferPolicy.deny, .move,
        ])
    func staysClaimed(_ policy: TransferPolicy) async throws {
        try await LedgerWorld.with({ $0.transfer = policy }) { world in
            let (_, evidence) = try await live(world)
            _ = try await erase(world)
            await #expect(throws: LedgerRefusal.self) { try await erase(world) }
            await #expect(throws: LedgerRefusal.self) {
                try await world.ledger.answer(CustomerSummary(app: "example", customerID: Self.name))
            }
            #expect(try await world.entitlement(of: Self.name) == nil)
            for customer in [Self.name, "bob"] {
                for (id, product, bytes) in [
                    ("1", LedgerWorld.coins, evidence[0]), ("901", LedgerWorld.monthly, evidence[1]),
                    ("5", LedgerWorld.pro, evidence[2]),
                ] {
                    let claim = try await world.claim(id, product: product, customer: customer, bytes)
                    #expect(claim.rejection?.code == "purchase_erased" && claim.claimedBy == nil)
                    #expect(claim.disposition == .refused && claim.entitlement == nil)
                }
                let restored = try await world.ledger.restore(
                    RestoreSubmission(app: "example", customerID: customer, evidence: evidence))
                #expect(restored.purchases.map(\.code) == ["purchase_erased", "purchase_erased", "purchase_erased"])
                let answer = try await world.ledger.answer(EntitlementsOfCustomer(app: "example", customerID: customer))
                #expect(answer.entitlements.isEmpty && answer.named.isEmpty)
            }
            await #expect(throws: LedgerRefusal.self) {
                try await world.ledger.perform(
                    MovePurchase(app: "example", transactionID: "1", to: "bob", reason: "please"))
            }
            // A renewal of the subscription was bought after the erasure.
            try await world.observe(try LedgerWorld.period("902", from: 30))
            let renewal = try await world.claim(
                "902", product: LedgerWorld.monthly, customer: "bob", try LedgerWorld.period("902", from: 30))
            #expect(renewal.code == "accepted" && renewal.disposition == .granted)
        }
    }

    @Test("Other customers keep their purchases and their evidence")
    func others() async throws {
        try await LedgerWorld.with { world in
            let token = UUID()
            _ = try await world.ledger.perform(AssignToken(app: "example", customerID: Self.name, token: token))
            // Carol got a purchase with Alice's token, and Bob claimed a purchase that Alice had claimed first.
            let moved = try LedgerWorld.signed("1", product: LedgerWorld.pro, kind: .nonConsumable) {
                $0.appAccountToken = token.uuidString.lowercased()
            }
            _ = try await world.claim("1", product: LedgerWorld.pro, customer: Self.name, moved)
            _ = try await world.ledger.perform(
                MovePurchase(app: "example", transactionID: "1", to: "carol", reason: "family"))
            func coin(_ id: String) -> PurchaseTemplate {
                var coin = PurchaseTemplate(
                    productID: LedgerWorld.coins, transactionID: id, purchaseDate: MintedWorld.moment)
                coin.originalTransactionID = id
                coin.productType = .consumable
                return coin
            }
            let both = try LedgerWorld.receipt([coin("2"), coin("3")])
            _ = try await world.claim("2", customer: Self.name, both)
            _ = try await world.claim("3", customer: "bob", try LedgerWorld.receipt([coin("3")]))
            let before = try await world.entitlement(of: "bob", environment: .sandbox)
            #expect(before?.balance == 1)
            let erased = try await erase(world)
            #expect(erased.keptEvidence == 2 && erased.evidence == 0 && erased.transactions == 1)
            #expect(try await world.entitlement(LedgerWorld.pro, of: "carol")?.state == .active)
            #expect(try await world.entitlement(of: "bob", environment: .sandbox) == before)
            #expect(try await places(of: Array(Self.name.utf8), world) == [])
            #expect(try await world.claim("2", customer: "bob", both).rejection?.code == "purchase_erased")
        }
    }

    @Test("Details or evidence that are missing without an erasure are reported, and nothing else")
    func missing() async throws {
        try await TemporaryFolder.with { folder in
            let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
            let world = try await LedgerWorld(database)
            _ = try await live(world)
            _ = try await erase(world)
            let bob = try LedgerWorld.signed("77")
            let claim = try await world.claim("77", customer: "bob", bob)
            #expect(try await world.ledger.audit().findings == [])
            try await database.write { connection in
                _ = try connection.execute(
                    "UPDATE evidence SET content = NULL WHERE sha256 = ?1", [.blob(Array(SHA256.hash(data: bob)))])
            }
            func missing() async throws -> Int {
                try await world.ledger.audit().findings.count { $0.kind == .missingWithoutErasure }
            }
            #expect(try await missing() == 1)
            try await database.write { connection in
                _ = try connection.execute(
                    "UPDATE journal SET details = NULL, salt = NULL WHERE entry_id = ?1",
                    [.blob(claim.submissionID.bytes)])
            }
            #expect(try await missing() == 2)
            // Without the details of the erasure, everything that it listed counts as missing.
            try await database.write { connection in
                _ = try connection.execute("UPDATE journal SET details = NULL WHERE kind = 11", [])
            }
            #expect(try await missing() > 10)
            try await database.close()
        }
    }

    @Test("The App Store's answer about an unknown claim is a finding, and changes nothing")
    func hint() async throws {
        try await TestEngine.withDatabases { database in
            let world = try await LedgerWorld(database)
            _ = try await world.claim("1", try LedgerWorld.signed("1"))
            let word = #"{"cancellations":[],"claim":"\#(UUID().uuidString)","isContradiction":false}"#
            let (salt, details) = ([UInt8](repeating: 3, count: 16), Array(word.utf8))
            let leaf = JournalLeaf(
                id: UUID(), at: world.clock.now, kind: .appStoreAnswer, app: "example", customer: nil, order: nil,
                code: "", evidence: nil, details: Array(SHA256.hash(data: salt + details)))
            try await world.database.write { connection in
                _ = try connection.execute(
                    """
                    INSERT INTO journal (entry_id, leaf, salt, details, app_key, kind, code, at)
                    VALUES (?1, ?2, ?3, ?4, (SELECT app_key FROM apps WHERE name = 'example'), 2, '', ?5)
                    """,
                    [
                        .blob(leaf.id.bytes), .blob(leaf.bytes), .blob(salt), .blob(details),
                        .integer(leaf.at.millisecondsSince1970),
                    ])
            }
            #expect(try await world.ledger.audit().findings.map(\.kind) == [.entryImpossible])
            #expect(try await world.entitlement()?.balance == 1)
        }
    }
}
