import Crypto
import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Erasing a person", .tags(.everyEngine))
struct ErasureTests {
    var world: LedgerWorld { CurrentWorld.opened() }
    var folder: URL { CurrentWorld.opened() }

    private static let name = "alice-of-4711"

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
            PurchaseTemplate(productID: LedgerWorld.pro, transactionID: "5", purchaseDate: MintedWorld.moment)
        ])
        try await world.restore(of: "guest of \(Self.name)", [receipt])
        try await world.ledger.perform(
            MergeCustomers(
                app: "example", customerID: "guest of \(Self.name)", into: Self.name, reason: "was \(Self.name)"))
        _ = try await world.ledger.perform(
            GrantByHand(
                app: "example", customerID: Self.name, productID: LedgerWorld.coins, quantity: 2,
                reason: "gift to \(Self.name)"))
        try await world.tester(Self.name, true)
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

    @Test("Afterwards no table contains the name, the token or the evidence, and neither does a vacuumed file", .folder)
    func nothingLeft() async throws {
        let file = folder.appending(path: "assay.sqlite")
        let database = try SQLiteDatabase(path: file.path)
        let world = try await LedgerWorld(database)
        let (token, evidence) = try await live(world)
        let needles = [
            Array(Self.name.utf8), Array(token.uuidString.lowercased().utf8), token.bytes,
        ]
        for needle in needles { #expect(try await !places(of: needle, world).isEmpty) }
        let erased = try await world.erase(Self.name)
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

    @Test(
        "The customer is gone, and a claim of one of the purchases gets purchase_erased",
        arguments: [
            TransferPolicy.deny, .move,
        ])
    func staysClaimed(_ policy: TransferPolicy) async throws {
        try await LedgerWorld.with({ $0.transfer = policy }) { world in
            let (_, evidence) = try await live(world)
            try await world.erase(Self.name)
            await #expect(throws: LedgerRefusal.self) { try await world.erase(Self.name) }
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
                let restored = try await world.restore(of: customer, evidence)
                #expect(restored.purchases.map(\.code) == ["purchase_erased", "purchase_erased", "purchase_erased"])
                let answer = try await world.entitlements(of: customer)
                #expect(answer.entitlements.isEmpty && answer.named.isEmpty)
            }
            await #expect(throws: LedgerRefusal.self) {
                try await world.move("1", to: "bob")
            }
            // A renewal of the subscription was bought after the erasure.
            try await world.observe(try LedgerWorld.period("902", from: 30))
            let renewal = try await world.claim("902", customer: "bob", try LedgerWorld.period("902", from: 30))
            #expect(renewal.code == "accepted" && renewal.disposition == .granted)
        }
    }

    @Test("Other customers keep their purchases and their evidence", .ledger)
    func others() async throws {
        let token = UUID()
        try await world.assign(token, to: Self.name)
        // Carol got a purchase with Alice's token, and Bob claimed a purchase that Alice had claimed first.
        let moved = try LedgerWorld.signed("1", product: LedgerWorld.pro) {
            $0.appAccountToken = token.uuidString.lowercased()
        }
        _ = try await world.claim("1", product: LedgerWorld.pro, customer: Self.name, moved)
        try await world.move("1", to: "carol")
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
        let erased = try await world.erase(Self.name)
        #expect(erased.keptEvidence == 2 && erased.evidence == 0 && erased.transactions == 1)
        #expect(try await world.entitlement(LedgerWorld.pro, of: "carol")?.state == .active)
        #expect(try await world.entitlement(of: "bob", environment: .sandbox) == before)
        #expect(try await places(of: Array(Self.name.utf8), world) == [])
        #expect(try await world.claim("2", customer: "bob", both).rejection?.code == "purchase_erased")
    }

    @Test("Details or evidence that are missing without an erasure are reported, and nothing else", .folder)
    func missing() async throws {
        let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
        let world = try await LedgerWorld(database)
        _ = try await live(world)
        try await world.erase(Self.name)
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

/// Erasures of customers in a family that shares a subscription.
@Suite("Erasures in a family", .tags(.everyEngine), .ledger)
struct SharedCopyErasureTests {
    let world: LedgerWorld = CurrentWorld.opened()

    private static func period(_ id: String, isShared: Bool = false) -> SignedTransactionTemplate {
        LedgerWorld.template(id, product: LedgerWorld.monthly) {
            $0.originalTransactionID = "900"
            $0.expiresDate = $0.purchaseDate?.addingTimeInterval(30 * 86_400)
            if isShared { ($0.inAppOwnershipType, $0.appTransactionID) = ("FAMILY_SHARED", "77") }
        }
    }

    private static func erase(_ customer: String, _ world: LedgerWorld) async throws -> EraseCustomer.Outcome {
        try await world.erase(customer)
    }

    private static func claim(
        _ period: SignedTransactionTemplate, _ customer: String, _ world: LedgerWorld
    ) async throws -> PurchaseOutcome {
        try await world.claim(
            period.transactionID ?? "", product: LedgerWorld.monthly, customer: customer, try MintedWorld.mint(period))
    }

    @Test(
        "C.12 A manual revocation of a member's copy ends with the erasure of the customer of whom it was said, also for the copy's later owner",
        arguments: [false, true], [false, true])
    func revokedCopy(hasPurchaser: Bool, isLifted: Bool) async throws {
        let copy = Self.period("902", isShared: true)
        if hasPurchaser { _ = try await Self.claim(Self.period("901"), "carol", world) }
        _ = try await Self.claim(copy, "bob", world)
        world.clock.advance(seconds: 60)
        let id = try await world.revoke("902", of: "bob")
        try await world.move("902", to: "alice")
        world.clock.advance(seconds: 60)
        #expect(try await world.entitlement(LedgerWorld.monthly)?.reason == .revokedByHand)
        #expect(try await Self.claim(copy, "alice", world).code == "purchase_withdrawn")
        if isLifted {
            try await world.ledger.perform(LiftByHand(app: "example", customerID: "alice", id: id))
            world.clock.advance(seconds: 60)
        }
        _ = try await Self.erase("bob", world)
        #expect(try await world.entitlement(LedgerWorld.monthly)?.state == .active)
        let carols = try await world.entitlement(LedgerWorld.monthly, of: "carol")
        #expect((carols?.state == .active) == hasPurchaser)
    }

    /// A notification that the subscription does not renew.
    private static func news(beside period: SignedTransactionTemplate) throws -> [UInt8] {
        var renewal = RenewalInfoTemplate(transaction: period)
        renewal.autoRenewStatus = 0
        var template = NotificationTemplate(
            notificationType: "DID_CHANGE_RENEWAL_STATUS", transaction: period, renewalInfo: renewal)
        template.data?.status = 1
        template.notificationUUID = UUID().uuidString.lowercased()
        return try MintedWorld.mint(template)
    }

    @Test(
        "C.12 The renewal info and the status of a subscription stay with their evidence while a member's copy is held",
        arguments: [false, true])
    func heldCopy(isSignedBesideCopy: Bool) async throws {
        let (own, copy) = (Self.period("901"), Self.period("902", isShared: true))
        _ = try await Self.claim(own, "alice", world)
        try await world.observe(try MintedWorld.mint(copy))
        try await world.observe(try Self.news(beside: own))
        if isSignedBesideCopy { try await world.observe(try Self.news(beside: copy)) }
        let erased = try await Self.erase("alice", world)
        #expect(erased.transactions == 1 && erased.evidence == 1 && erased.keptEvidence == 1)
        try await world.requireConsistency()
        #expect(try await Self.claim(copy, "bob", world).code == "accepted")
        let entitlement = try await world.entitlement(LedgerWorld.monthly, of: "bob")
        #expect(entitlement?.state == .active && entitlement?.renewal?.info.autoRenewStatus == 0)
    }

    @Test("C.12 The renewal info of a subscription goes with its evidence if nobody else has a copy")
    func noCopy() async throws {
        let own = Self.period("901")
        _ = try await Self.claim(own, "alice", world)
        try await world.observe(try Self.news(beside: own))
        let erased = try await Self.erase("alice", world)
        #expect(erased.transactions == 1 && erased.evidence == 2 && erased.keptEvidence == 0)
    }
}
