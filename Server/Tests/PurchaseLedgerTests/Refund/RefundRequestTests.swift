import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Sendable private func refundRules(_ app: inout RegisteredApp) {
    var policy = RefundPolicy()
    (policy.unused, policy.partlyUsed, policy.used) = (.grantFull, .grantProrated, .decline)
    app.refunds.products[LedgerWorld.coins] = policy
}

/// Apple's questions about the use of purchases, from the notification to what was told.
@Suite("Refund requests", .ledger(refundRules))
struct RefundRequestTests {
    let world: LedgerWorld = CurrentWorld.opened()

    private static let apps = ["example"]

    /// Apple asks, some seconds after the purchase.
    @discardableResult
    private static func ask(
        _ world: LedgerWorld, _ id: String, quantity: Int64 = 1, after seconds: Double = 60,
        type: String = "CONSUMPTION_REQUEST",
        _ change: (inout SignedTransactionTemplate) -> Void = { _ in }
    ) async throws -> UUID {
        let transaction = LedgerWorld.template(id) {
            $0.quantity = quantity
            change(&$0)
        }
        let signed = transaction.signedDate
        return try await world.observe(
            try NotificationTests.notification(type, transaction) {
                $0.signedDate = signed?.addingTimeInterval(seconds)
                $0.notificationUUID = UUID().uuidString.lowercased()
                $0.data?.consumptionRequestReason = type == "CONSUMPTION_REQUEST" ? "UNINTENDED_PURCHASE" : nil
            }
        ).submissionID
    }

    private static func buy(
        _ world: LedgerWorld, _ id: String, quantity: Int64 = 1, customer: String = LedgerWorld.customer
    ) async throws {
        _ = try await world.claim(id, customer: customer, try LedgerWorld.signed(id) { $0.quantity = quantity })
    }

    private static func consent(
        _ world: LedgerWorld, _ customer: String = LedgerWorld.customer, given: Bool = true
    ) async throws {
        _ = try await world.ledger.perform(
            RecordConsumptionConsent(app: "example", customerID: customer, isGiven: given))
    }

    private enum Next: Equatable {
        /// Nothing is due.
        case none
        /// It was declined, waits, or is no longer open.
        case settled
        case send(ConsumptionWork)
    }

    private static func next(_ world: LedgerWorld) async throws -> Next {
        let leased = try await world.ledger.perform(LeaseWork(WorkSelection([.refund], apps: apps, limit: 1)))
        guard let work = leased.first else { return .none }
        return try await world.ledger.perform(DecideConsumptionAnswer(work)).map(Next.send) ?? .settled
    }

    private static func work(_ world: LedgerWorld) async throws -> ConsumptionWork {
        guard case .send(let work) = try await next(world) else { throw NoWork() }
        return work
    }

    private struct NoWork: Error {}

    private static func list(
        _ world: LedgerWorld, _ state: ConsumptionRequestState? = nil
    ) async throws -> [RefundRequestMessage] {
        try await world.ledger.answer(RefundRequestList(app: "example", state: state, limit: 100)).entries.map(
            \.message)
    }

    @Test(
        "A question that Apple repeats under a new id is one request with a count, until Apple decided or 12 hours passed"
    )
    func repeated() async throws {
        try await Self.buy(world, "1")
        try await Self.buy(world, "2")
        func requested() async throws -> Int { try await world.events().count { $0 == "refund_requested" } }
        let entry = try await Self.ask(world, "1")
        // Later, earlier and about the last moment; delivered again, each counts once.
        for seconds in [120, 30, 43_259] as [Double] { try await Self.ask(world, "1", after: seconds) }
        #expect(try await Self.list(world).map(\.asked) == [4])
        #expect(try await Self.list(world).first?.entryID == entry.text)
        #expect(try await requested() == 1)
        try await Self.ask(world, "2")
        #expect(try await Self.list(world).map(\.asked) == [1, 4])
        // Without a decision, a question of the next day is another one.
        try await Self.ask(world, "1", after: 60 + 12 * 3600)
        #expect(try await Self.list(world).map(\.asked) == [1, 1, 4])
        // A question after the decision is another one, and one that was signed before it is the same.
        try await Self.ask(world, "2", after: 600, type: "REFUND_DECLINED")
        try await Self.ask(world, "2", after: 599)
        #expect(try await Self.list(world).map(\.asked) == [1, 2, 4])
        try await Self.ask(world, "2", after: 601)
        #expect(try await Self.list(world).map(\.asked) == [1, 1, 2, 4])
        #expect(try await requested() == 4)
    }

    @Test("After the erasure of the owner to whom a question or its repetition came, the rest is that of a rebuild")
    func repeatedAndErased() async throws {
        for erased in [LedgerWorld.customer, "bob"] {
            try await LedgerWorld.with(refundRules) { world in
                try await Self.buy(world, "1")
                try await Self.ask(world, "1")
                try await world.move("1", to: "bob")
                try await Self.ask(world, "1", after: 120)
                #expect(try await Self.list(world).map(\.asked) == [2])
                try await world.requireConsistency()
                try await world.erase(erased)
            }
        }
    }

    @Test("29.3 One of two units used is half, is told once, and is in the record")
    func half() async throws {
        try await Self.buy(world, "1", quantity: 2)
        _ = try await world.consume(1, "c1")
        try await Self.consent(world)
        let entry = try await Self.ask(world, "1", quantity: 2)
        let request = try #require(try await Self.list(world).first)
        #expect(request.state == "open" && request.entryID == entry.text && request.reason == "UNINTENDED_PURCHASE")
        let asked = try #require(Timestamp(request.askedAt))
        #expect(request.deadline == "\(asked.adding(milliseconds: 43_200_000, times: 1))")
        let work = try await Self.work(world)
        #expect(work.answer.percentage == 50_000 && work.answer.preference == .grantProrated)
        #expect(work.transactionID == "1" && work.environment == .production && work.bundleID == "com.example.app")
        // Another server does not have it meanwhile.
        #expect(try await Self.next(world) == .none)
        #expect(try await world.ledger.perform(RecordConsumptionAnswer(work)))
        #expect(try await !world.ledger.perform(RecordConsumptionAnswer(work)))
        #expect(try await Self.next(world) == .none)
        let sent = try #require(try await Self.list(world, .sent).first)
        #expect(
            sent.answer
                == RefundRequestMessage.Answer(
                    delivered: true, consumptionPercentage: 50_000, refundPreference: "grant_prorated",
                    sampleContentProvided: false, quantity: 2, used: 1))
        #expect(sent.answeredAt == "\(world.clock.now)" && sent.customerID == LedgerWorld.customer)
    }

    @Test("29.3 What a crash left is sent again exactly as it was, also if more was used since")
    func crash() async throws {
        try await Self.buy(world, "1", quantity: 2)
        try await Self.consent(world)
        try await Self.ask(world, "1", quantity: 2)
        let first = try await Self.work(world)
        #expect(first.answer.percentage == 0)
        _ = try await world.consume(2, "c1")
        // A call to Apple, with its repetitions and the wait for its turn, ends before the lease.
        world.clock.advance(seconds: 599)
        #expect(try await Self.next(world) == .none)
        world.clock.advance(seconds: 1)
        #expect(try await Self.work(world) == first)
        // Apple did not answer: once more, and it is the same again.
        var later = first.work
        later.attempts = 1
        try await world.ledger.perform(NoteWork(later, next: world.clock.now.adding(milliseconds: 60_000, times: 1)))
        #expect(try await Self.next(world) == .none)
        world.clock.advance(seconds: 61)
        var again = try await Self.work(world)
        #expect(again.work.attempts == 1)
        again.work.attempts = 0
        #expect(again == first)
        // Without the consent it is not repeated.
        try await Self.consent(world, given: false)
        world.clock.advance(seconds: 601)
        #expect(try await Self.next(world) == .settled)
        #expect(try await Self.list(world).first?.state == "open")
    }

    @Test("29.3 Nothing is told before the consent; it is told once the customer agrees, and never after the deadline")
    func consent() async throws {
        try await Self.buy(world, "1")
        try await Self.ask(world, "1")
        #expect(try await Self.next(world) == .settled)
        #expect(try await Self.next(world) == .none)
        try await Self.consent(world)
        world.clock.advance(seconds: 301)
        let work = try await Self.work(world)
        #expect(work.answer.percentage == 0 && work.answer.preference == .grantFull)
        _ = try await world.ledger.perform(RecordConsumptionAnswer(work))
        try await Self.buy(world, "2")
        try await Self.ask(world, "2", after: 120)
        world.clock.advance(seconds: 43_200)
        #expect(try await Self.next(world) == .settled)
        #expect(try await Self.next(world) == .none)
        #expect(try await Self.list(world).map(\.state) == ["expired", "sent"])
        #expect(try await Self.list(world, .expired).count == 1)
    }

    @Test("29.3 Apple's decision closes the requests before it, and an answer after it is not made")
    func closed() async throws {
        try await Self.buy(world, "1")
        try await Self.buy(world, "2")
        try await Self.consent(world)
        try await Self.ask(world, "1")
        try await Self.ask(world, "2")
        try await Self.ask(world, "1", after: 600, type: "REFUND_DECLINED")
        try await Self.ask(world, "2", after: 600, type: "REFUND") {
            $0.refund(at: $0.signedDate?.addingTimeInterval(600))
        }
        #expect(try await Self.next(world) == .none)
        #expect(try await Self.list(world).map(\.state) == ["closed", "closed"])
        #expect(try await Self.list(world).map(\.closedBy) == ["REFUND", "REFUND_DECLINED"])
        // The customer asks again.
        try await Self.ask(world, "1", after: 700)
        #expect(try await Self.work(world).transactionID == "1")
        // Refunded first, asked late: there is nothing to say.
        try await Self.ask(world, "2", after: 1300)
        #expect(try await Self.next(world) == .settled)
        #expect(try await Self.list(world).map(\.refusal).first == "refunded")
    }

    @Test("29.3 After a refund of some units Apple is told about the others")
    func refundedInPart() async throws {
        try await Self.buy(world, "1", quantity: 4)
        try await Self.consent(world)
        try await world.observe(
            try LedgerWorld.signed("1") {
                $0.quantity = 4
                $0.signedDate = $0.signedDate?.addingTimeInterval(60)
                ($0.revocationDate, $0.revocationPercentage) = ($0.signedDate, 25_000)
            })
        _ = try await world.consume(3, "c1")
        try await Self.ask(world, "1", quantity: 4, after: 120)
        #expect(try await Self.work(world).answer.preference == .decline)
    }

    @Test(
        "29.3 An order says whether it was delivered, and its units are used, also if Apple asks about a copy",
        arguments: ["1", "2"])
    func orders(asked: String) async throws {
        let order = try await world.order(quantity: 3)
        _ = try await world.claim("1", order: order.id, try LedgerWorld.signed("1") { $0.quantity = 3 })
        try await Self.consent(world)
        try await Self.ask(world, asked, quantity: 3) { $0.originalTransactionID = "1" }
        var work = try await Self.work(world)
        #expect(!work.answer.isDelivered && work.answer.percentage == 0)
        _ = try await world.ledger.perform(RecordConsumptionAnswer(work))
        _ = try await world.ledger.perform(FulfilOrder(app: "example", orderID: order.id, units: 1))
        try await Self.ask(world, asked, quantity: 3, after: 43_260) { $0.originalTransactionID = "1" }
        work = try await Self.work(world)
        #expect(work.answer.isDelivered && work.answer.percentage == 33_333)
    }

    @Test("29.3 After a transfer, what the former owner used is not told of the new one")
    func transferred() async throws {
        try await Self.buy(world, "1", quantity: 2)
        _ = try await world.consume(2, "c1")
        try await world.move("1", to: "bob")
        try await Self.consent(world, "bob")
        try await Self.ask(world, "1", quantity: 2)
        let work = try await Self.work(world)
        #expect(work.answer.percentage == 0)
    }

    @Test("29.3 Seats that Apple assigned and shares of a family are declined, without any consent")
    func seats() async throws {
        for (id, ownership, refusal) in [
            ("1", "ASSIGNED", "assigned_seat"), ("2", "FAMILY_SHARED", "family_shared"),
        ] {
            try await world.observe(try LedgerWorld.signed(id) { $0.inAppOwnershipType = ownership })
            try await Self.ask(world, id) { $0.inAppOwnershipType = ownership }
            #expect(try await Self.next(world) == .settled)
            #expect(try await Self.list(world).first?.refusal == refusal)
            #expect(try await Self.list(world).first?.state == "declined")
        }
    }

    @Test("29.3 Consent follows a merge: the latest statement counts; and an erasure leaves nothing of what was told")
    func mergedAndErased() async throws {
        try await Self.buy(world, "1")
        try await Self.consent(world, given: false)
        world.clock.advance(seconds: 1)
        try await Self.consent(world, "bob")
        try await Self.ask(world, "1")
        try await world.merge(LedgerWorld.customer, into: "bob")
        let kept = try await world.ledger.answer(ConsentOfCustomer(app: "example", customerID: LedgerWorld.customer))
        #expect(kept.consented == true && kept.mergedInto == "bob")
        let work = try await Self.work(world)
        _ = try await world.ledger.perform(RecordConsumptionAnswer(work))
        try await world.requireConsistency()
        // Another customer's request stays.
        try await Self.buy(world, "2", customer: "carol")
        try await Self.ask(world, "2")
        try await world.erase("bob")
        #expect(try await Self.list(world).map(\.transactionID) == ["2"])
        #expect(try await world.ledger.answer(ConsentOfCustomer(app: "example", customerID: "bob")).consented == nil)
        #expect(try await !world.ledger.perform(RecordConsumptionAnswer(work)))
    }

    @Test("29.3 A request answered for a former owner survives that owner's erasure, without what was said")
    func formerOwner() async throws {
        try await Self.buy(world, "1")
        try await Self.consent(world)
        try await Self.ask(world, "1")
        _ = try await world.ledger.perform(RecordConsumptionAnswer(try await Self.work(world)))
        try await world.move("1", to: "bob")
        try await world.erase(LedgerWorld.customer)
        let left = try await Self.list(world)
        #expect(left.allSatisfy { $0.answer == nil })
        try await Self.consent(world, "bob")
        try await Self.ask(world, "1", after: 300)
        #expect(try await Self.work(world).answer.percentage == 0)
    }

    @Test(
        "29.3 A request stays closed after the erasure of the customer who owned the purchase when Apple decided",
        arguments: ["REFUND", "REFUND_DECLINED"])
    func decidedForFormerOwner(type: String) async throws {
        try await Self.buy(world, "1")
        try await Self.ask(world, "1")
        try await world.move("1", to: "bob")
        try await Self.ask(world, "1", after: 600, type: type) {
            guard type == "REFUND" else { return }
            $0.signedDate = $0.signedDate?.addingTimeInterval(600)
            ($0.revocationDate, $0.revocationReason) = ($0.signedDate, 0)
        }
        try await world.move("1", to: LedgerWorld.customer)
        try await world.erase("bob")
        let request = try #require(try await Self.list(world).first)
        #expect(request.state == "closed" && request.closedBy == type)
    }
}
