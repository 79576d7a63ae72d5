import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// A ledger in which the customer `device` is merged into `alice`.
///
/// Both have purchases of every kind, and purchases that the other one had before.
struct MergingWorld {
    let world: LedgerWorld
    /// An order that the device paid, an open one, and one of alice.
    let orders: [UUID]
    /// A time between the purchases and the first consumption.
    let between: Timestamp

    /// Calls the body with a world of each engine.
    static func with(_ body: (MergingWorld) async throws -> Void) async throws {
        try await TestEngine.withDatabases(mayBeMigrated: true) { database in
            let merging = try await MergingWorld(database)
            try await body(merging)
            try await merging.world.requireConsistency()
        }
    }

    init(_ database: any LedgerDatabase) async throws {
        let world = try await LedgerWorld(database, apps: [Self.app])
        self.world = world
        let ledger = world.ledger
        func coins(_ id: String, of customer: String, _ quantity: Int64, day: Double = 0) async throws {
            _ = try await world.claim(id, customer: customer, try Self.coins(id, quantity, day: day))
        }
        func move(_ id: String, to customer: String) async throws {
            _ = try await ledger.perform(MovePurchase(app: "example", transactionID: id, to: customer, reason: "test"))
        }
        // Lots of one, of the other, of both in turn, and of a third customer.
        try await coins("1", of: "device", 5)
        try await coins("2", of: "alice", 2, day: 0.5)
        try await coins("3", of: "device", 4, day: 1)
        try await coins("4", of: "alice", 3, day: 1.5)
        try await coins("5", of: "device", 1, day: 2)
        world.clock.advance(days: 1)
        between = world.clock.now
        world.clock.advance(days: 1)
        _ = try await world.consume(7, "first", of: "device")
        _ = try await world.consume(3, "first", of: "alice")
        try await move("3", to: "alice")
        try await move("4", to: "device")
        try await move("5", to: "bob")
        let paid = try await world.order("device", quantity: 6)
        _ = try await world.claim("6", customer: "device", order: paid.id, try Self.coins("6", 6, day: 2))
        _ = try await ledger.perform(FulfilOrder(app: "example", orderID: paid.id, units: 2))
        let open = try await world.order("device", quantity: 9)
        let another = try await world.order("alice", quantity: 8)
        orders = [paid.id, open.id, another.id]
        // Access of one, and of both.
        func pro(_ id: String, of customer: String) async throws {
            _ = try await world.claim(id, customer: customer, try LedgerWorld.signed(id, product: LedgerWorld.pro))
        }
        try await pro("20", of: "device")
        try await move("20", to: "alice")
        try await pro("21", of: "device")
        let token = UUID()
        _ = try await ledger.perform(AssignToken(app: "example", customerID: "device", token: token))
        let second = UUID()
        _ = try await ledger.perform(AssignToken(app: "example", customerID: "alice", token: second))
        for (id, start, owner) in [("901", 0.0, token), ("902", 30.0, second)] {
            try await world.observe(
                try LedgerWorld.period(id, from: start) { $0.appAccountToken = owner.uuidString.lowercased() })
        }
        // Only a token names the owner.
        try await world.observe(
            try LedgerWorld.period("911", original: "911", product: LedgerWorld.yearly, from: 0, days: 365) {
                $0.appAccountToken = token.uuidString.lowercased()
            })
        for (id, customer, day) in [("30", "device", 0.0), ("31", "alice", 1), ("32", "device", 2)] {
            _ = try await world.claim(id, customer: customer, try Self.pass(id, day: day))
        }
        for id in ["device", "alice"] {
            _ = try await ledger.perform(
                GrantByHand(app: "example", customerID: id, productID: LedgerWorld.coins, quantity: 2, reason: "test"))
        }
        _ = try await ledger.perform(ChangeTester(app: "example", customerID: "device", isTester: true))
        _ = try await world.claim(
            "40", customer: "alice",
            try LedgerWorld.signed("40") {
                $0.environment = "Sandbox"
                $0.quantity = 3
            })
        try await Self.fillNews(world)
        try await ledger.perform(MergeCustomers(app: "example", customerID: "device", into: "alice"))
    }

    /// Subscriptions that are sold by the seat, of one customer and of a third one; grounds of other shops; and a
    /// signed status of revocation.
    private static func fillNews(_ world: LedgerWorld) async throws {
        for (original, purchaser, members) in [
            ("960", "device", ["alice", "bob"]), ("970", "bob", ["device", "alice"]), ("980", "alice", ["device"]),
        ] {
            let team = try SeatCountTests.team(original, 3, from: 0) { $0.originalTransactionID = original }
            _ = try await world.claim(original, customer: purchaser, try MintedWorld.mint(team))
            for member in members {
                world.clock.advance(seconds: 60)
                try await Self.claimSeat(of: original, for: member, world)
            }
        }
        for (customer, shop) in [("device", "stripe"), ("alice", "google_play")] {
            _ = try await world.ledger.perform(
                AddGround(
                    app: "example", customerID: customer, source: shop, reference: "of \(customer)",
                    productID: LedgerWorld.yearly, until: Timestamp(MintedWorld.moment.addingTimeInterval(86_400 * 50)))
            )
        }
        for (original, customer) in [("920", "device"), ("930", "alice")] {
            _ = try await world.claim(
                original, customer: customer,
                try LedgerWorld.period(original, original: original, from: 0))
            try await world.observe(try Self.status(5, of: original, day: 1))
        }
        let lease = LeaseWebhook(
            app: "example", .notifications(.production), url: "https://example.com/",
            owner: Array(repeating: 1, count: 16),
            beginning: 0)
        #expect(try await world.ledger.perform(lease) != nil)
    }

    @discardableResult
    static func claimSeat(
        of original: String, for member: String, _ world: LedgerWorld
    ) async throws -> SeatMessage {
        try await world.ledger.perform(
            ClaimSeat(
                app: "example", originalTransactionID: original, customerID: member,
                requestID: "of \(member)", appTransactionID: "download of \(member)"))
    }

    /// A notification with the status of a subscription, and without its transaction.
    static func status(_ status: Int64, of original: String, day: Double) throws -> [UInt8] {
        let period = LedgerWorld.template(original, product: LedgerWorld.monthly) {
            $0.originalTransactionID = original
        }
        var template = NotificationTemplate(
            notificationType: "REVOKE", transaction: period, renewalInfo: RenewalInfoTemplate(transaction: period))
        template.data?.transaction = nil
        template.data?.status = status
        template.signedDate = MintedWorld.moment.addingTimeInterval(3600 + day * 86_400)
        template.notificationUUID = UUID().uuidString.lowercased()
        return try MintedWorld.mint(template)
    }

    static var app: RegisteredApp {
        var app = LedgerWorld.app()
        app.sandboxAccess = .testers
        return app
    }

    static func coins(
        _ id: String, _ quantity: Int64, day: Double = 0, _ change: (inout SignedTransactionTemplate) -> Void = { _ in }
    ) throws -> [UInt8] {
        try LedgerWorld.signed(id) {
            $0.quantity = quantity
            $0.purchaseDate = MintedWorld.moment.addingTimeInterval(3600 + day * 86_400)
            $0.originalPurchaseDate = $0.purchaseDate
            $0.signedDate = $0.purchaseDate
            change(&$0)
        }
    }

    static func pass(_ id: String, day: Double) throws -> [UInt8] {
        try LedgerWorld.signed(id, product: LedgerWorld.pass) {
            $0.purchaseDate = MintedWorld.moment.addingTimeInterval(3600 + day * 86_400)
            $0.originalPurchaseDate = $0.purchaseDate
            $0.signedDate = $0.purchaseDate
        }
    }

    /// Everything that reads answer about the two customers and the third one.
    func answers() async throws -> [String] {
        let ledger = world.ledger
        var answers: [String] = []
        for customer in ["device", "alice", "bob"] {
            for moment in [nil, between, world.clock.now] {
                for environment in [nil, AppStoreEnvironment.sandbox] {
                    let answer = try await ledger.answer(
                        EntitlementsOfCustomer(
                            app: "example", customerID: customer, environment: environment, at: moment))
                    answers += answer.entitlements.map { "\(customer) \(moment as Any): \($0)" }
                    answers.append("\(customer) \(answer.named) \(answer.mergedInto ?? "")")
                }
            }
            var before: Int64?
            repeat {
                let page = try await ledger.answer(
                    PurchasesOfCustomer(app: "example", customerID: customer, before: before, limit: 3))
                answers += page.entries.map { "\(customer): \($0)" }
                before = page.next
            } while before != nil
            let list = try await ledger.answer(OrderList(app: "example", customerID: customer, limit: 100))
            answers += list.entries.map { "\(customer): \($0)" }
            answers.append("\(try await ledger.answer(CustomerSummary(app: "example", customerID: customer)))")
            answers += try await newsAnswers(customer)
        }
        for original in ["960", "970", "980"] {
            let seats = try await ledger.answer(
                SeatsOfSubscription(app: "example", originalTransactionID: original, limit: 10))
            answers.append("seats of \(original): \(seats.seats) \(seats.claims) \(seats.next as Any)")
            answers += seats.claimed.map { "seat of \(original): \($0)" }
        }
        let forwarded = try await ledger.answer(
            OutgoingEvents(app: "example", .notifications(.production), after: 0, limit: 100))
        answers += forwarded.map { "forwarded \($0.isAnnounced) \($0.isNotification)" }
        let held = try await ledger.answer(HeldPurchases(app: "example", limit: 100))
        answers += held.entries.map { "held: \($0)" }
        for order in orders { answers.append("\(try await world.order(order))") }
        for text in ["1", "20", "911", orders[0].uuidString] {
            answers.append("\(try await ledger.answer(CustomerSearch(app: "example", text: text, limit: 5)))")
            answers.append("\(try await ledger.answer(PurchasesOfTransaction(app: "example", transactionID: text)))")
        }
        return answers
    }

    /// What reads answer about a customer's seats, grounds and notifications, and beside another system's answers.
    private func newsAnswers(_ customer: String) async throws -> [String] {
        let ledger = world.ledger
        let subscriptions = try await ledger.answer(SubscriptionsOfCustomer(app: "example", customerID: customer))
        var answers = subscriptions.subscriptions.map { "\(customer): \($0)" }
        answers.append("\(customer) \(subscriptions.mergedInto ?? "")")
        let grounds = try await ledger.answer(GroundsOfCustomer(app: "example", customerID: customer))
        answers += grounds.grounds.map { "\(customer): \($0)" }
        answers.append("\(customer) \(grounds.mergedInto ?? "")")
        let filter = NotificationFilter(customerID: customer)
        let list = try await ledger.answer(NotificationList(app: "example", filter: filter, limit: 100))
        answers += list.entries.map {
            "\(customer): \($0.type ?? "") \($0.originalTransactionID ?? "") \($0.customerID ?? "")"
        }
        var theirs: [ForeignAnswer] = []
        for product in Self.app.products.keys.sorted() {
            for isActive in [true, false] {
                theirs.append(ForeignAnswer(customerID: customer, .product(product), isActive: isActive))
            }
        }
        for transaction in ["1", "911", "960"] {
            var answer = ForeignAnswer(customerID: customer, .product(LedgerWorld.monthly), isActive: true)
            answer.transactionID = transaction
            theirs.append(answer)
        }
        for comparison in try await ledger.answer(CompareAnswers(app: "example", theirs)) {
            answers.append("\(comparison)")
        }
        return answers
    }
}
