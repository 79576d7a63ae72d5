import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// What the ledger knows about the originals of a receipt.
@Suite("State of a receipt", .ledger)
struct ReceiptStateTests {
    var folder: URL { CurrentWorld.opened() }
    let world: LedgerWorld = CurrentWorld.opened()

    private static let production = AppStoreEnvironment.production

    private static func date(_ day: Double) -> Date { MintedWorld.moment.addingTimeInterval(3600 + day * 86_400) }

    /// A receipt of a download with the first period of each subscription, signed on a day.
    private static func receipt(
        originals: [String] = ["900"], download: UInt64? = 77, on day: Double = 1,
        ownership: PurchaseTemplate.OwnershipType = .purchased
    ) throws -> [UInt8] {
        var template = AppReceiptTemplate.production(
            bundleID: "com.example.app", creationDate: date(day),
            purchases: originals.map { original in
                var purchase = PurchaseTemplate.subscription(
                    productID: LedgerWorld.monthly, transactionID: "\(original)1", originalTransactionID: original,
                    purchaseDate: date(0), originalPurchaseDate: date(0), expiresDate: date(30))
                purchase.ownershipType = ownership
                return purchase
            })
        template.downloadID = download
        return Array(Data(try MintedWorld.mint(template)).base64EncodedString().utf8)
    }

    /// What is asked about a receipt; `nil` if nothing can be known.
    private static func asked(_ receipt: [UInt8]) throws -> (question: StateOfReceipt?, observation: Observation) {
        let content = try LedgerWorld.verifier().verifyAppReceipt(try RecognizedEvidence(receipt), policies: [])
        let observation = Observation(.appReceipt(content))
        let question = StateOfReceipt(
            bundleID: "com.example.app", environment: production, receipt: observation,
            downloadID: content.downloadID, createdAt: content.creationDate)
        return (question, observation)
    }

    private static func question(_ receipt: [UInt8]) throws -> (StateOfReceipt, Observation) {
        let (question, observation) = try asked(receipt)
        return (try #require(question), observation)
    }

    private static func state(_ receipt: [UInt8], _ world: LedgerWorld) async throws -> ReceiptState {
        try await world.ledger.answer(try question(receipt).0)
    }

    private static func standing(_ receipt: [UInt8], _ world: LedgerWorld) async throws -> ReceiptStanding {
        let (question, observation) = try question(receipt)
        return ReceiptStanding(observation, try await world.ledger.answer(question), at: world.clock.now)
    }

    /// A notification with a period and renewal info beside it.
    private static func news(
        _ transaction: String, original: String = "900", from start: Double, signedOn day: Double, status: Int64? = nil,
        _ change: (inout RenewalInfoTemplate) -> Void = { _ in }
    ) throws -> [UInt8] {
        let period = LedgerWorld.template(transaction, product: LedgerWorld.monthly) {
            $0.originalTransactionID = original
            $0.purchaseDate = date(start)
            $0.originalPurchaseDate = date(0)
            $0.expiresDate = date(start + 30)
            $0.signedDate = date(day)
        }
        var renewal = RenewalInfoTemplate(transaction: period)
        renewal.signedDate = date(day)
        change(&renewal)
        var template = NotificationTemplate(notificationType: "DID_RENEW", transaction: period, renewalInfo: renewal)
        template.data?.status = status
        template.signedDate = date(day)
        template.notificationUUID = UUID().uuidString.lowercased()
        return try MintedWorld.mint(template)
    }

    @Test("30.1 A renewal after the signature is known with its renewal info, whoever claimed the purchase, or nobody")
    func renewed() async throws {
        world.clock.advance(days: 31)
        let receipt = try Self.receipt()
        #expect(try await Self.state(receipt, world).isEmpty)
        #expect(try await !Self.standing(receipt, world).isLive)
        try await world.observe(try Self.news("9002", from: 30, signedOn: 30))
        let state = try await Self.state(receipt, world)
        #expect(state.transactions.map(\.key.transactionID.string) == ["9002"])
        #expect(state.renewals["900"]?.info.autoRenewStatus == 1)
        let standing = try await Self.standing(receipt, world)
        #expect(Set(standing.entries.map(\.facts.key.transactionID.string)) == ["9001", "9002"])
        #expect(standing.isLive && standing.subscriptions.map(\.standing?.state.name) == [.active])
    }

    @Test("30.2 It is live only with signed news about the latest period, and until that ends without news")
    func live() async throws {
        world.clock.advance(days: 1)
        let receipt = try Self.receipt()
        // A signed transaction alone says nothing about the renewal.
        try await world.observe(try LedgerWorld.period("9001", from: 0))
        #expect(try await !Self.standing(receipt, world).isLive)
        try await world.observe(try Self.news("9001", from: 0, signedOn: 0.5))
        #expect(try await Self.standing(receipt, world).isLive)
        world.clock.advance(days: 30)
        #expect(try await !Self.standing(receipt, world).isLive, "it ended, and renews automatically")
        try await world.observe(try Self.news("9001", from: 0, signedOn: 30, status: 2) { $0.autoRenewStatus = 0 })
        let ended = try await Self.standing(receipt, world)
        #expect(ended.isLive && ended.subscriptions.first?.standing?.state.name == .expired)
        // The next period, without news about it.
        try await world.observe(try LedgerWorld.period("9002", from: 30.5))
        #expect(try await !Self.standing(receipt, world).isLive)
    }

    @Test("30.2 A renewal that was turned off can be turned on again: without news after the end it is not live")
    func turnedOff() async throws {
        let receipt = try Self.receipt()
        world.clock.advance(days: 16)
        try await world.observe(try Self.news("9001", from: 0, signedOn: 15) { $0.autoRenewStatus = 0 })
        #expect(try await Self.standing(receipt, world).isLive)
        world.clock.advance(days: 15)
        let untold = try await Self.standing(receipt, world)
        #expect(!untold.isLive && untold.subscriptions.first?.standing?.state.name == .expired)
        try await world.observe(try Self.news("9001", from: 0, signedOn: 30.5) { $0.autoRenewStatus = 0 })
        #expect(try await Self.standing(receipt, world).isLive)
    }

    @Test("30.2 A signed status is news, and one silent subscription makes the whole answer as of signing")
    func statuses() async throws {
        world.clock.advance(days: 2)
        let receipt = try Self.receipt(originals: ["900", "800"])
        for original in ["900", "800"] {
            try await world.observe(try LedgerWorld.period("\(original)1", original: original, from: 0))
        }
        try await world.observe(try Self.news("9001", from: 0, signedOn: 1))
        #expect(try await !Self.standing(receipt, world).isLive)
        let period = LedgerWorld.template(
            "8001", product: LedgerWorld.monthly
        ) {
            $0.originalTransactionID = "800"
            $0.expiresDate = Self.date(30)
            $0.signedDate = Self.date(1)
        }
        var template = NotificationTemplate(notificationType: "SUBSCRIBED", transaction: period)
        template.data?.status = 1
        template.signedDate = Self.date(1)
        template.notificationUUID = UUID().uuidString.lowercased()
        try await world.observe(try MintedWorld.mint(template))
        #expect(try await Self.standing(receipt, world).isLive)
    }

    @Test(
        "30.1 Nothing of a family member or a seat of the same original is known to the buyer, nor the other way round")
    func members() async throws {
        world.clock.advance(days: 2)
        try await world.observe(try LedgerWorld.period("9001", from: 0))
        let members = [
            ("5001", "FAMILY_SHARED", "d1"), ("5002", "FAMILY_SHARED", "d2"), ("5003", "ASSIGNED", "d3"),
        ]
        for (id, ownership, download) in members {
            try await world.observe(
                try LedgerWorld.period(id, from: 0) {
                    $0.inAppOwnershipType = ownership
                    $0.appTransactionID = download
                })
        }
        let buyer = try await Self.state(try Self.receipt(), world)
        #expect(buyer.transactions.map(\.key.transactionID.string) == ["9001"])
        // A member's receipt names the member's own transaction, which the ledger knows by its download.
        var template = AppReceiptTemplate.production(bundleID: "com.example.app", creationDate: Self.date(1))
        var purchase = PurchaseTemplate.subscription(
            productID: LedgerWorld.monthly, transactionID: "5001", originalTransactionID: "900",
            purchaseDate: Self.date(0), originalPurchaseDate: Self.date(0), expiresDate: Self.date(30))
        purchase.ownershipType = .familyShared
        template.purchases = [purchase]
        let member = try await Self.state(Array(Data(try MintedWorld.mint(template)).base64EncodedString().utf8), world)
        #expect(member.transactions.map(\.key.transactionID.string) == ["5001"])
        // A member of whom nothing is known.
        template.purchases[0].transactionID = "5009"
        let stranger = try await Self.state(
            Array(Data(try MintedWorld.mint(template)).base64EncodedString().utf8), world)
        #expect(stranger.transactions.isEmpty)
    }

    @Test("30.2 The status of one family member is no news about another one whose download is not known")
    func statusOfMember() async throws {
        world.clock.advance(days: 2)
        let receipts = try ["900", "950"].map { id in
            var purchase = PurchaseTemplate.subscription(
                productID: LedgerWorld.monthly, transactionID: "\(id)1", originalTransactionID: "900",
                purchaseDate: Self.date(0), originalPurchaseDate: Self.date(0), expiresDate: Self.date(30))
            purchase.ownershipType = .familyShared
            let template = AppReceiptTemplate.production(
                bundleID: "com.example.app", creationDate: Self.date(1), purchases: [purchase])
            return Array(Data(try MintedWorld.mint(template)).base64EncodedString().utf8)
        }
        func signed(_ transaction: String) -> SignedTransactionTemplate {
            LedgerWorld.template(transaction, product: LedgerWorld.monthly) {
                ($0.originalTransactionID, $0.inAppOwnershipType) = ("900", "FAMILY_SHARED")
                ($0.purchaseDate, $0.expiresDate, $0.signedDate) = (Self.date(0), Self.date(30), Self.date(1))
            }
        }
        var news = NotificationTemplate(notificationType: "SUBSCRIBED", transaction: signed("9001"))
        news.data?.status = 1
        (news.signedDate, news.notificationUUID) = (Self.date(1), UUID().uuidString.lowercased())
        try await world.observe(try MintedWorld.mint(news))
        #expect(try await Self.standing(receipts[0], world).isLive)
        #expect(try await !Self.standing(receipts[1], world).isLive)
        // With a copy of the other one, nobody knows whose status it is.
        try await world.observe(try MintedWorld.mint(signed("9501")))
        #expect(try await !Self.standing(receipts[0], world).isLive)
        #expect(try await !Self.standing(receipts[1], world).isLive)
    }

    @Test("30.1 Nothing of another original of the customer, of another environment or of another app is known")
    func others() async throws {
        world.clock.advance(days: 2)
        try await world.observe(try LedgerWorld.period("7001", original: "700", from: 0))
        try await world.observe(try LedgerWorld.period("9001", from: 0) { $0.environment = "Sandbox" })
        #expect(try await Self.state(try Self.receipt(), world).isEmpty)
        var other = LedgerWorld.app()
        (other.id, other.bundleIDs) = ("other", ["com.example.other"])
        let both = try await world.restarted([LedgerWorld.app(), other])
        try await both.observe(try LedgerWorld.period("9001", from: 0) { $0.bundleID = "com.example.other" })
        #expect(try await Self.state(try Self.receipt(), both).isEmpty)
    }

    @Test("30.1 The newest receipt of the same download that names every original is the latest, byte for byte")
    func latestReceipt() async throws {
        world.clock.advance(days: 9)
        let sent = try Self.receipt(on: 1)
        let newer = try Self.receipt(originals: ["900", "800"], on: 3)
        let newest = try Self.receipt(originals: ["900", "700"], on: 5)
        for receipt in [
            try Self.receipt(on: 0.5), newer, newest, try Self.receipt(originals: ["800"], on: 6),
            try Self.receipt(download: 78, on: 7), try Self.receipt(download: 0, on: 8),
        ] {
            try await world.observe(receipt)
        }
        #expect(try await Self.state(sent, world).latestReceipt == newest)
        #expect(try await Self.state(newest, world).latestReceipt == nil)
        let both = try Self.receipt(originals: ["900", "800"], on: 2)
        #expect(try await Self.state(both, world).latestReceipt == newer)
        #expect(try await Self.state(try Self.receipt(download: 0, on: 2), world).latestReceipt == nil)
        #expect(try await Self.state(try Self.receipt(download: nil, on: 2), world).latestReceipt == nil)
        // Stored once more, it is found as before.
        try await world.observe(newest)
        #expect(try await Self.state(sent, world).latestReceipt == newest)
    }

    @Test("30.1 Of a receipt with more than 1,024 originals the subscriptions are known, but no newer receipt", .ledger)
    func manyOriginals() async throws {
        func coins(_ count: Int) -> [PurchaseTemplate] {
            (0..<count).map { number in
                .consumable(
                    productID: LedgerWorld.coins, transactionID: "\(50_000 + number)", purchaseDate: Self.date(0))
            }
        }
        func subscription(_ original: String) -> PurchaseTemplate {
            .subscription(
                productID: LedgerWorld.monthly, transactionID: "\(original)1", originalTransactionID: original,
                purchaseDate: Self.date(0), originalPurchaseDate: Self.date(0), expiresDate: Self.date(30))
        }
        func receipt(_ purchases: [PurchaseTemplate]) throws -> [UInt8] {
            var template = AppReceiptTemplate.production(
                bundleID: "com.example.app", creationDate: Self.date(1), purchases: purchases)
            template.downloadID = 77
            return Array(Data(try MintedWorld.mint(template)).base64EncodedString().utf8)
        }
        #expect(try Self.asked(try receipt(coins(1024))).question != nil)
        #expect(try Self.asked(try receipt(coins(1025))).question == nil)
        // By the kind, or by the end if the receipt has no kind.
        var (untyped, pass) = (subscription("800"), subscription("700"))
        (untyped.productType, pass.productType) = (nil, .nonRenewingSubscription)
        let many = try receipt(coins(1022) + [subscription("900"), untyped, pass])
        let few = try receipt(coins(1021) + [subscription("900"), untyped, pass])
        world.clock.advance(days: 31)
        try await world.observe(try Self.receipt(originals: ["900", "800"], on: 5))
        try await world.observe(try LedgerWorld.signed("50000"))
        try await world.observe(
            try LedgerWorld.signed("7001", product: LedgerWorld.pass) {
                $0.originalTransactionID = "700"
            })
        for original in ["900", "800"] {
            try await world.observe(try Self.news("\(original)2", original: original, from: 30, signedOn: 30))
        }
        let state = try await Self.state(many, world)
        #expect(Set(state.transactions.map(\.original.transactionID.string)) == ["900", "800"])
        #expect(Set(state.transactions.map(\.key.transactionID.string)).isSuperset(of: ["9002", "8002"]))
        // The newer receipt of the download does not name the consumables.
        #expect(state.latestReceipt == nil)
        #expect(try await Self.standing(many, world).subscriptions.count == 2)
        let all = try await Self.state(few, world)
        #expect(Set(all.transactions.map(\.key.transactionID.string)).isSuperset(of: ["50000", "7001", "9002"]))
    }

    @Test(
        "30.1 After an erasure, neither transactions nor receipts of the customer are known, but that they were erased")
    func erased() async throws {
        world.clock.advance(days: 3)
        let receipt = try Self.receipt(on: 2)
        _ = try await world.claim("9001", product: LedgerWorld.monthly, receipt)
        #expect(try await Self.state(try Self.receipt(on: 1), world).latestReceipt == receipt)
        try await world.erase(LedgerWorld.customer)
        let state = try await Self.state(try Self.receipt(on: 1), world)
        #expect(state.isErased && state.transactions.isEmpty && state.latestReceipt == nil)
    }

    @Test("30.3 The state is read in one statement", .folder)
    func oneStatement() async throws {
        let database = RecordingDatabase(try SQLiteDatabase(path: folder.appending(path: "one.sqlite").path))
        let world = try await LedgerWorld(database)
        world.clock.advance(days: 9)
        try await world.observe(try Self.news("9001", from: 0, signedOn: 1))
        try await world.observe(try Self.receipt(originals: ["900", "800"], on: 5))
        for receipt in [try Self.receipt(), try Self.receipt(originals: (0..<70).map { "6\($0)" })] {
            let question = try Self.question(receipt).0
            _ = database.take()
            _ = try await world.ledger.answer(question)
            #expect(database.take().count == 1)
        }
        try await database.close()
    }
}
