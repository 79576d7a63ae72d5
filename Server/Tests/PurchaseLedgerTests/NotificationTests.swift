import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Notifications in the ledger: each once, with the effects of the signed data in it.
@Suite("Notifications of the App Store", .ledger)
struct NotificationTests {
    let world: LedgerWorld = CurrentWorld.opened()

    /// A notification about a transaction of the coins.
    static func notification(
        _ type: String, subtype: String? = nil, _ transaction: SignedTransactionTemplate,
        _ change: (inout NotificationTemplate) -> Void = { _ in }
    ) throws -> [UInt8] {
        var template = NotificationTemplate(notificationType: type, subtype: subtype, transaction: transaction)
        change(&template)
        return try MintedWorld.mint(template)
    }

    /// The notification that somebody responsible for the user withdrew the consent to the app.
    static func rescission(_ appTransactionID: String, id: String = UUID().uuidString.lowercased()) throws -> [UInt8] {
        var download = MintedWorld.appTransaction(environment: "Production")
        (download.appTransactionID, download.appAppleID) = (appTransactionID, 1_234_567_890)
        var data = NotificationTemplate.AppData()
        (data.bundleID, data.environment, data.appAppleID) = ("com.example.app", "Production", 1_234_567_890)
        data.appTransaction = download
        var template = NotificationTemplate()
        (template.notificationType, template.notificationUUID) = ("RESCIND_CONSENT", id)
        (template.appData, template.signedDate) = (data, MintedWorld.moment.addingTimeInterval(3600))
        return try MintedWorld.mint(template)
    }

    private static func list(
        _ world: LedgerWorld, _ filter: NotificationFilter = NotificationFilter(), limit: Int = 100
    ) async throws -> [NotificationMessage] {
        try await world.ledger.answer(NotificationList(app: "example", filter: filter, limit: limit)).entries
    }

    @Test("28.1 A refund that a notification tells takes the coins, once, however often it is delivered")
    func refund() async throws {
        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        let refunded = LedgerWorld.template("1") {
            $0.refund(at: $0.signedDate?.addingTimeInterval(60))
            $0.revocationReason = 0
        }
        let delivery = try Self.notification("REFUND", refunded)
        let first = try await world.observe(delivery)
        #expect(!first.isRepeated)
        #expect(try await world.entitlement()?.balance == 0)
        for _ in 1...3 {
            let again = try await world.observe(delivery)
            #expect(again.isRepeated && again.submissionID == first.submissionID)
        }
        // Signed again by Apple, with the same UUID.
        let signedAgain = try Self.notification("REFUND", refunded) {
            $0.signedDate = $0.signedDate?.addingTimeInterval(3600)
            $0.notificationUUID =
                NotificationTemplate(notificationType: "REFUND", transaction: refunded).notificationUUID
        }
        #expect(try await world.observe(signedAgain).isRepeated)
        #expect(try await world.events().count { $0 == "revoked" } == 1)
        let listed = try await Self.list(world)
        #expect(listed.map(\.type) == ["REFUND"] && listed.first?.customerID == LedgerWorld.customer)
        #expect(listed.first?.transactionID == "1" && listed.first?.entryID == first.submissionID.text)
    }

    @Test("28.1 Unknown types, subtypes and objects are kept without effect, and listed")
    func unknown() async throws {
        var strange = MintedWorld.testNotification(environment: "Production")
        strange.notificationType = "SOMETHING_NEW"
        strange.subtype = "OF_2027"
        strange.notificationUUID = "11111111-1111-4111-8111-111111111111"
        try await world.observe(try MintedWorld.mint(strange))
        var object = NotificationTemplate()
        object.notificationType = "OBJECT"
        object.notificationUUID = "22222222-2222-4222-8222-222222222222"
        object.signedDate = MintedWorld.moment
        object.extra = [
            Claim(
                "novelty",
                .object([
                    Claim("bundleId", .string("com.example.app")), Claim("environment", .string("Production")),
                ]))
        ]
        try await world.observe(try MintedWorld.mint(object))
        let listed = try await Self.list(world)
        #expect(listed.map(\.type) == ["OBJECT", "SOMETHING_NEW"] && listed.map(\.content) == ["unknown", "data"])
        #expect(try await Self.list(world, NotificationFilter(type: "OBJECT")).count == 1)
        #expect(try await Self.list(world, NotificationFilter(subtype: "OF_2027")).count == 1)
        #expect(try await world.events().isEmpty)
    }

    @Test("28.1 MIGRATE is listed as MIGRATION, and found under both names, in pages")
    func migration() async throws {
        let bought = LedgerWorld.template("1")
        _ = try await world.claim("1", try MintedWorld.mint(bought))
        for type in ["MIGRATE", "MIGRATION", "TEST", "MIGRATE"] {
            try await world.observe(
                try Self.notification(type, bought) { $0.notificationUUID = UUID().uuidString.lowercased() })
        }
        for type in ["MIGRATION", "MIGRATE"] {
            for customer in [nil, LedgerWorld.customer] {
                let filter = NotificationFilter(type: type, customerID: customer)
                #expect(try await Self.list(world, filter).map(\.type) == ["MIGRATION", "MIGRATION", "MIGRATION"])
            }
            let filter = NotificationFilter(type: type)
            let first = try await world.ledger.answer(NotificationList(app: "example", filter: filter, limit: 2))
            let rest = NotificationList(app: "example", filter: filter, before: try #require(first.next), limit: 2)
            #expect(first.entries.count == 2)
            #expect(try await world.ledger.answer(rest).entries.count == 1)
        }
        #expect(try await Self.list(world).count == 4)
    }

    @Test("28.1 A purchase that nobody claimed is held by its notification, and found by a later claim or its token")
    func held() async throws {
        let bought = LedgerWorld.template("1")
        try await world.observe(try Self.notification("ONE_TIME_CHARGE", bought))
        #expect(try await world.entitlement() == nil)
        #expect(try await world.claim("1", try MintedWorld.mint(bought)).code == "accepted")
        #expect(try await world.entitlement()?.balance == 1)
        let order = try await world.order("bob")
        let paid = LedgerWorld.template("2") { $0.appAccountToken = order.appAccountToken.uuidString.lowercased() }
        try await world.observe(try Self.notification("ONE_TIME_CHARGE", paid))
        #expect(try await world.order(order.id).status == .paid)
        #expect(try await world.entitlement(of: "bob")?.balance == 1)
    }

    @Test("28.2 A consumption request is an event with its deadline, and names the reason of the customer")
    func consumptionRequest() async throws {
        let bought = LedgerWorld.template("1")
        _ = try await world.claim("1", try MintedWorld.mint(bought))
        let request = try Self.notification("CONSUMPTION_REQUEST", bought) {
            $0.data?.consumptionRequestReason = "UNINTENDED_PURCHASE"
        }
        try await world.observe(request)
        try await world.observe(request)
        let events = try await world.ledger.answer(EventList(app: "example", limit: 100))
            .filter { $0.type == "refund_requested" }
        #expect(events.count == 1)
        let content = try #require(events.first).content
        #expect(content.reason == "UNINTENDED_PURCHASE" && content.customerID == LedgerWorld.customer)
        let deadline = try #require(bought.signedDate).addingTimeInterval(12 * 3600)
        #expect(content.until == Timestamp(deadline))
        #expect(try await Self.list(world).first?.refundReason == "UNINTENDED_PURCHASE")
    }

    @Test(
        "28.2 A rescinded consent is one event for every customer who owns a purchase of that download, however often it is delivered"
    )
    func rescindedConsent() async throws {
        for (number, customer, download) in [
            (1, "alice", "70"), (2, "bob", "70"), (3, "bob", "70"), (4, "carol", "71"),
        ] {
            _ = try await world.claim(
                "\(number)", customer: customer,
                try LedgerWorld.signed("\(number)") { $0.appTransactionID = download })
        }
        // Nobody owns this one.
        try await world.observe(try LedgerWorld.signed("5") { $0.appTransactionID = "70" })
        let id = UUID().uuidString.lowercased()
        for _ in 1...3 { try await world.observe(try Self.rescission("70", id: id)) }
        let events = try await world.ledger.answer(EventList(app: "example", limit: 100))
            .filter { $0.type == "consent_rescinded" }.map(\.content)
        #expect(events.map(\.customerID) == ["alice", "bob"])
        #expect(events.allSatisfy { $0.environment == "Production" && $0.productID == nil })
        #expect(try await world.entitlement()?.balance == 1)
        for customer in ["alice", "bob"] {
            let found = try await Self.list(world, NotificationFilter(customerID: customer))
            #expect(found.map(\.type) == ["RESCIND_CONSENT"], "\(customer)")
        }
        #expect(try await Self.list(world, NotificationFilter(customerID: "carol")).isEmpty)
        // Of a download that nobody is known by, there is none.
        try await world.observe(try Self.rescission("99"))
        #expect(try await world.events().count { $0 == "consent_rescinded" } == 2)
        // It is listed once for two customers who are one.
        try await world.merge("carol", into: "bob")
        try await world.merge("bob", into: "alice")
        #expect(try await Self.list(world, NotificationFilter(customerID: "alice")).map(\.type) == ["RESCIND_CONSENT"])
        try await world.erase("alice")
    }

    @Test(
        "28.2 A notification about a purchase that is claimed or transferred later is listed under its present owner, and erased with them"
    )
    func presentOwner() async throws {
        let bought = LedgerWorld.template("1", product: LedgerWorld.pro)
        try await world.observe(try Self.notification("ONE_TIME_CHARGE", bought))
        #expect(try await Self.list(world).map(\.customerID) == [nil])
        func owned(_ customer: String) async throws -> [String?] {
            try await Self.list(world, NotificationFilter(type: "ONE_TIME_CHARGE", customerID: customer)).map(
                \.customerID)
        }
        _ = try await world.claim("1", try MintedWorld.mint(bought))
        #expect(try await owned("alice") == ["alice"])
        _ = try await world.claim("9", customer: "bob", try LedgerWorld.signed("9"))
        try await world.move("1", to: "bob")
        #expect(try await owned("bob") == ["bob"])
        #expect(try await owned("alice").isEmpty)
        try await world.erase("bob")
        let left = try await Self.list(world)
        #expect(left.count == 1 && left.first?.transactionID == nil && left.first?.evidenceSHA256 == nil)
    }

    @Test(
        "28.1 Notifications of a customer and of a transaction are listed in pages, and an erasure forgets the customer"
    )
    func lists() async throws {
        for number in 1...5 {
            let bought = LedgerWorld.template("\(number)")
            _ = try await world.claim("\(number)", customer: number < 4 ? "alice" : "bob", try MintedWorld.mint(bought))
            try await world.observe(try Self.notification("ONE_TIME_CHARGE", bought))
        }
        #expect(try await Self.list(world, NotificationFilter(customerID: "alice")).count == 3)
        #expect(try await Self.list(world, NotificationFilter(transactionID: "5")).map(\.transactionID) == ["5"])
        var (found, place): ([NotificationMessage], Int64) = ([], .max)
        repeat {
            let page = try await world.ledger.answer(NotificationList(app: "example", before: place, limit: 2))
            #expect(page.entries.count <= 2)
            found += page.entries
            place = page.next ?? 0
        } while place > 0
        #expect(found.map(\.transactionID) == ["5", "4", "3", "2", "1"])
        try await world.erase("alice")
        let rest = try await Self.list(world)
        #expect(rest.count == 5 && rest.filter { $0.transactionID == nil }.count == 3)
        // A delivery of the erased news is a repetition and brings nothing back.
        let again = try await world.observe(try Self.notification("ONE_TIME_CHARGE", LedgerWorld.template("1")))
        #expect(again.isRepeated)
    }
}
