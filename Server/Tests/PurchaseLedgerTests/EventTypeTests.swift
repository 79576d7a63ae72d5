import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// The events of each change: one history in which every type occurs.
@Suite("Types of events")
struct EventTypeTests {
    var folder: URL { CurrentWorld.opened() }

    @Test("Each change writes its type of event, in order, and duplicate evidence writes none", .folder)
    func allTypes() async throws {
        let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
        var history = EventHistory(world: try await LedgerWorld(database))
        try await orders(&history)
        try await subscription(&history)
        try await owners(&history)
        try await operators(&history)
        try await seats(&history)
        try await settings(&history)
        try await appStore(&history)
        try await notifications(&history)
        let world = history.world
        try await world.erase("bob")
        try await history.expect(.customerErased)
        #expect(history.types == Set(EventType.allCases))
        try history.expectDocumentation()
        try await history.world.requireConsistency()
        try await database.close()
    }

    private func orders(_ history: inout EventHistory) async throws {
        let world = history.world
        let order = try await world.order(quantity: 2)
        try await history.expect(.orderCreated)
        let bought = try coins("1")
        _ = try await world.claim("1", order: order.id, bought)
        try await history.expect(.granted, .orderPaid)
        try await world.observe(bought)
        try await history.expect()
        let refunded = try coins("1", revoked: true, signedAfter: 10)
        try await world.observe(refunded)
        try await history.expect(.revoked, .orderRefunded)
        try await world.observe(refunded)
        try await history.expect()
        try await world.observe(try coins("1", signedAfter: 20))
        try await history.expect(.reversed, .orderRestored)
        try await world.fulfil(order.id)
        try await history.expect(.orderFulfilled)
        // Fulfilling took the lot of two.
        #expect(try await history.balance == 0)
        try await world.fulfil(order.id)
        try await history.expect()
        let unwanted = try await world.order()
        _ = try await world.ledger.perform(CancelOrder(app: "example", orderID: unwanted.id))
        try await history.expect(.orderCreated, .orderCancelled)
        let partial = try await world.order(quantity: 2)
        _ = try await world.claim("3", order: partial.id, try coins("3"))
        _ = try await world.ledger.perform(FulfilOrder(app: "example", orderID: partial.id, units: 1))
        _ = try await world.consume(1, "rest")
        _ = try await world.ledger.perform(CloseOrder(app: "example", orderID: partial.id, reason: "left the game"))
        try await history.expect(.orderCreated, .granted, .orderPaid, .orderPartlyFulfilled, .consumed, .orderClosed)
        // The payment that no claim asked for moves to the order that a claim names.
        _ = try await world.order()
        let named = try await world.order()
        let second = try LedgerWorld.signed("2")
        _ = try await world.claim("2", second)
        _ = try await world.claim("2", order: named.id, second)
        try await history.expect(.orderCreated, .orderCreated, .granted, .orderPaid, .orderReopened, .orderPaid)
        _ = try await world.consume(1, "use")
        try await history.expect(.consumed)
    }

    private func notifications(_ history: inout EventHistory) async throws {
        let bought = LedgerWorld.template("4") { $0.appTransactionID = "704000000000000001" }
        _ = try await history.world.claim("4", try MintedWorld.mint(bought))
        var request = NotificationTemplate(notificationType: "CONSUMPTION_REQUEST", transaction: bought)
        request.data?.consumptionRequestReason = "UNINTENDED_PURCHASE"
        try await history.world.observe(try MintedWorld.mint(request))
        try await history.expect(.granted, .orderPaid, .refundRequested)
        try await history.world.observe(try NotificationTests.rescission("704000000000000001"))
        try await history.expect(.consentRescinded)
        var token = NotificationTemplate.ExternalPurchaseToken()
        (token.externalPurchaseID, token.bundleID, token.appAppleID) = ("token-1", "com.example.app", 1_234_567_890)
        var asked = NotificationTemplate()
        (asked.notificationType, asked.subtype) = ("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED")
        (asked.notificationUUID, asked.externalPurchaseToken) = (UUID().uuidString.lowercased(), token)
        asked.signedDate = MintedWorld.moment.addingTimeInterval(3600)
        try await history.world.observe(try MintedWorld.mint(asked))
        try await history.expect(.externalPurchaseTokenDue)
        _ = try await history.world.ledger.perform(RecordExternalReport(app: "example", id: "token-1", .late))
        try await history.expect(.externalPurchaseTokenOverdue)
    }

    private func coins(_ id: String, revoked: Bool = false, signedAfter seconds: Double = 0) throws -> [UInt8] {
        try LedgerWorld.signed(id) {
            $0.quantity = 2
            $0.sign($0.purchaseDate?.addingTimeInterval(seconds), isRevoked: revoked)
        }
    }

    private func subscription(_ history: inout EventHistory) async throws {
        let world = history.world
        _ = try await world.claim("901", product: LedgerWorld.monthly, try LedgerWorld.period("901", from: 0))
        try await history.expect(.granted)
        try await world.observe(try LedgerWorld.period("902", from: 30))
        try await history.expect(.renewed)
        let extended = try LedgerWorld.period("902", from: 30, days: 44) {
            $0.signedDate = $0.purchaseDate?.addingTimeInterval(60)
        }
        try await world.observe(extended)
        try await history.expect(.extended)
        try await world.observe(extended)
        try await history.expect()
        try await world.observe(
            try LedgerWorld.period("902", from: 30, days: 44) {
                $0.signedDate = $0.purchaseDate?.addingTimeInterval(120)
                $0.isUpgraded = true
            })
        try await history.expect(.upgraded)
        let template = LedgerWorld.template("902", product: LedgerWorld.monthly) {
            $0.originalTransactionID = "900"
        }
        var renewal = RenewalInfoTemplate(transaction: template)
        renewal.isInBillingRetryPeriod = true
        try await world.observe(try MintedWorld.mint(renewal))
        try await history.expect(.renewalChanged)
        try await world.observe(try MintedWorld.mint(renewal))
        try await history.expect()
        // Other evidence of the same transaction has a different quantity.
        try await world.observe(try LedgerWorld.signed("2") { $0.quantity = 3 })
        try await history.expect(.contradicted)
    }

    private func owners(_ history: inout EventHistory) async throws {
        let world = history.world
        let wish = try await world.order("erin", quantity: 2)
        try await history.expect(.orderCreated)
        for _ in 1...2 {
            let refused = try await world.claim("1", customer: "erin", order: wish.id, try coins("1", signedAfter: 20))
            #expect(refused.code == "already_claimed" && refused.claimedBy == .anotherCustomer)
        }
        // Once for each pair of customers.
        try await history.expect(.claimConflict)
        let token = UUID()
        try await world.assign(token, to: "carol")
        try await history.expect(.tokenAssigned)
        try await world.assign(token, to: "carol")
        try await history.expect()
        try await world.observe(
            try LedgerWorld.signed("1") {
                $0.quantity = 2
                $0.signedDate = $0.purchaseDate?.addingTimeInterval(30)
                $0.appAccountToken = token.uuidString.lowercased()
            })
        // One for each of the two customers.
        try await history.expect(.transferred, .transferred)
        try await world.merge("carol", into: "dora")
        try await history.expect(.customerMerged)
    }

    private func operators(_ history: inout EventHistory) async throws {
        let world = history.world
        let grant = try await world.grant(LedgerWorld.pro, to: "bob")
        try await history.expect(.grantAdded)
        let revocation = try await world.revoke(grant: grant, of: "bob")
        try await history.expect(.revocationAdded)
        try await world.ledger.perform(LiftByHand(app: "example", customerID: "bob", id: revocation))
        try await history.expect(.actLifted)
        let ground = try await world.ledger.perform(
            AddGround(
                app: "example", customerID: "bob", source: "google_play", reference: "GPA.1",
                productID: LedgerWorld.yearly,
                until: Timestamp(millisecondsSince1970: world.clock.now.millisecondsSince1970 + 3_600_000)))
        try await history.expect(.groundAdded)
        try await world.end(ground.groundID, of: "bob")
        try await history.expect(.groundEnded)
    }

    private func seats(_ history: inout EventHistory) async throws {
        let world = history.world
        let team = try SeatCountTests.team("960", 2, from: 0) { $0.originalTransactionID = "960" }
        _ = try await world.claim("960", product: LedgerWorld.monthly, customer: "bob", try MintedWorld.mint(team))
        try await history.expect(.granted)
        let claim = ClaimSeat(app: "example", originalTransactionID: "960", customerID: "dora", requestID: "1")
        let seat = try await world.ledger.perform(claim)
        try await history.expect(.seatClaimed)
        _ = try await world.ledger.perform(claim)
        try await history.expect()
        let end = UnclaimSeat(app: "example", originalTransactionID: "960", seatID: seat.seatID)
        try await world.ledger.perform(end)
        try await history.expect(.seatUnclaimed)
        try await world.ledger.perform(end)
        try await history.expect()
    }

    private func appStore(_ history: inout EventHistory) async throws {
        let former = history.world
        var app = LedgerWorld.app()
        app.mode = .apple
        history.world = try await former.restarted([app])
        let claim = try await history.world.claim("80", try LedgerWorld.coinReceipt(80))
        try await history.expect()
        try await history.world.answer(claim.submissionID, LedgerWorld.agreement())
        try await history.expect(.granted, .claimDecided)
        app.mode = .both
        history.world = try await former.restarted([app])
        let granted = try await history.world.claim("81", try LedgerWorld.coinReceipt(81))
        try await history.expect(.granted)
        try await history.world.answer(
            granted.submissionID, AppStoreAnswer(refusal: Rejection(.appStoreRefused, found: "status 21003")))
        try await history.expect(.notConfirmed)
        history.world = former
    }

    private func settings(_ history: inout EventHistory) async throws {
        let gems = "com.example.app.gems"
        let evidence = try LedgerWorld.signed("70", product: gems)
        _ = try await history.world.claim("70", product: gems, evidence)
        try await history.expect(.granted)
        var app = LedgerWorld.app()
        app.products[gems] = RegisteredProduct(kind: .consumable)
        history.world = try await history.world.restarted([app])
        try await history.expect(.registered)
    }
}

/// The events of a ledger, step by step.
private struct EventHistory {
    var world: LedgerWorld
    private(set) var types: Set<EventType> = []
    /// The names of the members of each event, by type.
    private var members: [String: Set<Set<String>>] = [:]
    private var cursor: Int64 = 0

    init(world: LedgerWorld) { self.world = world }

    /// The balance of the newest event that has one.
    var balance: Int64? {
        get async throws {
            try await world.ledger.answer(EventList(app: "example", limit: 1000)).compactMap(\.content.balance).last
        }
    }

    /// Compares the events since the last comparison.
    mutating func expect(
        _ expected: EventType..., sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let events = try await world.ledger.answer(EventList(app: "example", after: cursor, limit: 1000))
        #expect(events.map(\.type) == expected.map(\.rawValue), sourceLocation: sourceLocation)
        for event in events {
            members[event.type, default: []].insert(Self.members(of: event.content))
        }
        types.formUnion(events.compactMap { EventType(rawValue: $0.type) })
        cursor = events.last?.cursor ?? cursor
    }

    /// The names that the values of an event have on the wire.
    private static func members(of event: EventContent) -> Set<String> {
        var names: Set<String> = []
        for child in Mirror(reflecting: event).children {
            let value = Mirror(reflecting: child.value)
            // The number is a part of the id, which every body has.
            guard let label = child.label, label != "number", value.displayStyle != .optional || !value.children.isEmpty
            else { continue }
            let words = label.replacing("ID", with: "Id").replacing(/[A-Z]/) { "_" + $0.output.lowercased() }
            names.insert(words)
        }
        return names
    }

    /// The table in docs/webhooks.md shows, for each type, a body with the members of one of the events.
    func expectDocumentation() throws {
        let text = try String(contentsOf: Corpus.projectFolder.appending(path: "docs/webhooks.md"), encoding: .utf8)
        let table = try #require(text.components(separatedBy: "\n## ").first { $0.hasPrefix("Types and bodies\n") })
        var documented: Set<String> = []
        for line in table.split(separator: "\n") where line.hasPrefix("| `") && !line.hasPrefix("| `type`") {
            let cells = line.split(separator: "|").map {
                $0.trimmingCharacters(in: CharacterSet(charactersIn: " `"))
            }
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(cells[2].utf8)) as? [String: Any], "\(line)")
            guard cells[0] != "gap" else { continue }
            documented.insert(cells[0])
            var shared: Set = ["type", "app", "at", "entry_id", "customer_id"]
            if cells[0] == EventType.customerErased.rawValue || cells[0].hasPrefix("external_purchase_") {
                shared.remove("customer_id")
            }
            let known = members[cells[0], default: []]
            #expect(
                known.contains(shared.union(object.keys)),
                "\(cells[0]): \(known.map { $0.subtracting(shared).sorted() })")
        }
        #expect(documented == Set(EventType.allCases.map(\.rawValue)))
    }
}

@Suite("The balance in events is the one that entitlements show")
struct EventBalanceTests {
    @Test("After every act on a consumable", arguments: [RefundShortfallPolicy.forgive, .debt])
    func everyAct(policy: RefundShortfallPolicy) async throws {
        try await LedgerWorld.with({ $0.refundShortfall = policy }) { world in
            func requireAgreement() async throws {
                let event = try await world.ledger.answer(EventList(app: "example", limit: 100_000)).last
                let last = try #require(event).content
                let entitlement = try #require(try await world.entitlement())
                #expect(last.balance == entitlement.balance && last.shortfall == entitlement.shortfall, "\(last)")
            }
            _ = try await world.claim("1", try LedgerWorld.signed("1") { $0.quantity = 5 })
            try await requireAgreement()
            _ = try await world.consume(3, "a")
            try await requireAgreement()
            let order = try await world.order()
            _ = try await world.claim("2", order: order.id, try LedgerWorld.signed("2"))
            try await world.fulfil(order.id)
            try await requireAgreement()
            try await world.observe(
                try LedgerWorld.signed("1") {
                    $0.quantity = 5
                    $0.refund(at: $0.purchaseDate?.addingTimeInterval(60))
                })
            try await requireAgreement()
            _ = try await world.claim("3", try LedgerWorld.signed("3") { $0.quantity = 4 })
            try await requireAgreement()
            let revocation = try await world.revoke("3", of: LedgerWorld.customer)
            try await requireAgreement()
            try await world.ledger.perform(
                LiftByHand(app: "example", customerID: LedgerWorld.customer, id: revocation, reason: "test"))
            try await requireAgreement()
        }
    }
}

/// Restoring with the original API gives a purchase another transaction id each time.
@Suite("Events of restored copies", .ledger)
struct RestoredCopyEventTests {
    let world: LedgerWorld = CurrentWorld.opened()

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

    @Test("A copy that belongs to a member of the family is granted to that member")
    func family() async throws {
        let (own, shared) = (try pro("1"), try pro("21") { $0.inAppOwnershipType = "FAMILY_SHARED" })
        _ = try await world.claim("1", product: LedgerWorld.pro, own.bytes)
        _ = try await world.claim("21", product: LedgerWorld.pro, customer: "bob", shared.bytes)
        #expect(try await world.events() == ["granted", "granted"])
        try await world.requireConsistency()
    }

    private typealias Evidence = (id: String, product: String, bytes: [UInt8])

    private func pro(
        _ id: String, _ change: (inout SignedTransactionTemplate) -> Void = { _ in }
    ) throws -> Evidence {
        let bytes = try LedgerWorld.signed(id, product: LedgerWorld.pro) {
            $0.originalTransactionID = "1"
            change(&$0)
        }
        return (id, LedgerWorld.pro, bytes)
    }

    private func period(_ id: String, from start: Double) throws -> Evidence {
        (id, LedgerWorld.monthly, try LedgerWorld.period(id, from: start) { $0.webOrderLineItemID = "item-\(start)" })
    }
}
