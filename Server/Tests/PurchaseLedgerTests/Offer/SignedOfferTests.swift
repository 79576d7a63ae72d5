import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

extension Trait where Self == WorldTrait<LedgerWorld> {
    fileprivate static var offers: Self {
        ledger { app in
            var rule = OfferRule()
            (rule.limit, rule.within, rule.audience) = (1, 86_400_000, .former)
            rule.products = [LedgerWorld.monthly]
            app.offers.promotional["back"] = rule
            app.offers.introductory = OfferRule()
            app.offers.introductory?.audience = .new
        }
    }
}

/// Offers and extensions in the record.
@Suite("Signed offers and extensions", .offers)
struct SignedOfferTests {
    let world: LedgerWorld = CurrentWorld.opened()

    private static func sign(
        _ world: LedgerWorld, _ customer: String = LedgerWorld.customer, _ kind: OfferKind = .promotional,
        offer: String? = "back", product: String = LedgerWorld.monthly
    ) async throws -> SignOffer.Outcome {
        try await world.ledger.perform(
            SignOffer(app: "example", customerID: customer, kind: kind, offerID: offer, productID: product))
    }

    @Test("29.3 A former subscriber gets the offer once a day in either form; subscribers and new customers do not")
    func audience() async throws {
        #expect(await refusal { _ = try await Self.sign(world) } == .offerNotForCustomer)
        _ = try await world.claim("900", try LedgerWorld.period("900", from: 0))
        #expect(await refusal { _ = try await Self.sign(world) } == .offerNotForCustomer)
        world.clock.advance(days: 31)
        let first = try await Self.sign(world)
        #expect(await refusal { _ = try await Self.sign(world) } == .offerExhausted)
        #expect(await refusal { _ = try await Self.sign(world, "alice", .promotionalV1) } == .offerExhausted)
        world.clock.advance(days: 1)
        let second = try await Self.sign(world, "alice", .promotionalV1)
        #expect(first.nonce != second.nonce && second.signedAt == world.clock.now)
        #expect(await refusal { _ = try await Self.sign(world, offer: "other") } == .offerUnknown)
        #expect(
            await refusal { _ = try await Self.sign(world, product: LedgerWorld.yearly) }
                == .offerNotForProduct)
        // The introductory offer is for new customers, and Advanced Commerce is not in the settings.
        _ = try await Self.sign(world, "dave", .introductoryEligibility, offer: nil)
        #expect(
            await refusal { _ = try await Self.sign(world, "alice", .introductoryEligibility, offer: nil) }
                == .offerNotForCustomer)
        #expect(
            await refusal { _ = try await Self.sign(world, "alice", .advancedCommerce, offer: nil) }
                == .offerUnknown)
    }

    @Test("D.1 An offer that Apple binds to a purchase is for its owner: their subscriptions and their limit decide")
    func owner() async throws {
        let (download, token) = ("704897469903783919", UUID())
        _ = try await world.claim("900", try LedgerWorld.period("900", from: 0) { $0.appTransactionID = download })
        try await world.assign(token, to: "alice")
        func sign(_ customer: String, _ kind: OfferKind, _ transaction: String? = nil, _ token: UUID? = nil) async
            -> LedgerRefusal.Code?
        {
            await refusal {
                _ = try await world.ledger.perform(
                    SignOffer(
                        app: "example", customerID: customer, kind: kind,
                        offerID: kind == .introductoryEligibility ? nil : "back", productID: LedgerWorld.monthly,
                        transactionID: transaction, accountToken: token))
            }
        }
        // Bob is another account of the subscriber; nobody owns the last transaction.
        #expect(await sign("bob", .introductoryEligibility, "900") == .offerNotForCustomer)
        #expect(await sign("bob", .introductoryEligibility, download) == .offerNotForCustomer)
        #expect(await sign("bob", .introductoryEligibility, "7") == nil)
        #expect(await sign("alice", .introductoryEligibility, "7") == .offerNotForCustomer)
        world.clock.advance(days: 31)
        #expect(await sign("bob", .promotional) == .offerNotForCustomer)
        #expect(await sign("bob", .promotional, "900") == nil)
        #expect(await sign("alice", .promotional, "900") == .offerExhausted)
        #expect(await sign("alice", .promotional) == .offerExhausted)
        #expect(await sign("carol", .promotional, download) == .offerExhausted)
        #expect(await sign("carol", .promotionalV1, nil, token) == .offerExhausted)
        world.clock.advance(days: 1)
        #expect(await sign("carol", .promotionalV1, nil, token) == nil)
        #expect(await sign("alice", .promotional) == .offerExhausted)
        // After an erasure nobody is known to own it.
        try await world.erase("alice")
        #expect(await sign("bob", .introductoryEligibility, "900") == nil)
    }

    @Test("29.3 Signed offers count for the customer into whom one was merged, and are erased with them")
    func mergedAndErased() async throws {
        _ = try await world.claim("900", try LedgerWorld.period("900", from: 0))
        world.clock.advance(days: 31)
        _ = try await Self.sign(world)
        try await world.merge("alice", into: "bob")
        #expect(await refusal { _ = try await Self.sign(world, "bob") } == .offerExhausted)
        #expect(await refusal { _ = try await Self.sign(world, "alice") } == .offerExhausted)
        try await world.requireConsistency()
        try await world.erase("bob")
    }

    // MARK: Extensions

    private static func extend(
        _ world: LedgerWorld, _ id: String = "e1", original: String = "900", days: Int64 = 14
    ) async throws -> RequestExtension.Outcome {
        try await world.ledger.perform(
            RequestExtension(
                app: "example", originalTransactionID: original, requestID: id, days: days,
                extensionReason: .serviceIssue, reason: "an outage"))
    }

    @Test("29.3 An extension is requested once, asked for by one server at a time, and its answer is recorded once")
    func extensions() async throws {
        _ = try await world.claim("900", try LedgerWorld.period("900", from: 0))
        #expect(await refusal { _ = try await Self.extend(world, original: "7") } == .purchaseUnknown)
        #expect(await refusal { _ = try await Self.extend(world, days: 91) } == .fieldMalformed)
        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        #expect(await refusal { _ = try await Self.extend(world, original: "1") } == .purchaseUnknown)
        let first = try await Self.extend(world)
        #expect(!first.isReplayed && first.record.state == .open)
        #expect(try await Self.extend(world).isReplayed)
        #expect(await refusal { _ = try await Self.extend(world, days: 15) } == .extensionConflict)
        let work = try #require(first.work)
        let wanted = try await world.ledger.answer(OpenExtension(work))
        #expect(wanted?.requestID == "e1" && wanted?.bundleID == "com.example.app")
        // The server that received the request has it.
        let due = WorkSelection([.extension], apps: ["example"], limit: 8)
        #expect(try await world.ledger.perform(LeaseWork(due)) == [])
        let later = world.clock.now.adding(milliseconds: 60_000, times: 1)
        let open = try await world.ledger.perform(
            RecordExtensionAnswer(app: "example", requestID: "e1", .none(next: later)))
        #expect(open?.state == .open)
        world.clock.advance(seconds: 61)
        #expect(try await world.ledger.perform(LeaseWork(due)).map(\.attempts) == [1])
        let until = world.clock.now.adding(milliseconds: 86_400_000, times: 44)
        let done = try await world.ledger.perform(
            RecordExtensionAnswer(app: "example", requestID: "e1", .extended(until: until)))
        #expect(done?.state == .extended && done?.effectiveDate == until && done?.answeredAt == world.clock.now)
        // A second answer changes nothing.
        let again = try await world.ledger.perform(
            RecordExtensionAnswer(app: "example", requestID: "e1", .refused(number: 4_030_004)))
        #expect(again == done)
        _ = try await Self.extend(world, "e2")
        _ = try await world.ledger.perform(
            RecordExtensionAnswer(app: "example", requestID: "e2", .refused(number: 4_030_005)))
        _ = try await Self.extend(world, "e3")
        _ = try await world.ledger.perform(RecordExtensionAnswer(app: "example", requestID: "e3", .unknown))
        _ = try await Self.extend(world, "e4")
        world.clock.advance(days: 1)
        _ = try await world.ledger.perform(RecordExtensionAnswer(app: "example", requestID: "e4", .none(next: later)))
        let all = try await world.ledger.answer(
            ExtensionsOfSubscription(app: "example", originalTransactionID: "900", limit: 10))
        #expect(all.map(\.state) == [.unanswered, .unanswered, .refused, .extended])
        #expect(all.map(\.number) == [nil, nil, 4_030_005, nil])
        // Access follows what Apple signs, not what it answers.
        #expect(try await world.entitlement(LedgerWorld.monthly)?.until != until)
    }

    @Test("29.3 An extension stays in the record of a subscription whose owner was erased")
    func erased() async throws {
        _ = try await world.claim("900", try LedgerWorld.period("900", from: 0))
        _ = try await Self.extend(world)
        _ = try await world.ledger.perform(RecordExtensionAnswer(app: "example", requestID: "e1", .unknown))
        try await world.erase("alice")
    }
}

/// Who may have an offer, and how often.
@Suite("The decision about an offer")
struct OfferDecisionTests {
    private static let now = Timestamp(millisecondsSince1970: 1_000_000_000)

    private static func rule(_ change: (inout OfferRule) -> Void = { _ in }) -> OfferRule {
        var rule = OfferRule()
        change(&rule)
        return rule
    }

    private static func decision(
        _ rule: OfferRule?, product: String? = "monthly", audience: OfferAudience = .subscribers, ago: [Int64] = []
    ) -> OfferDecision {
        OfferDecision(
            rule, productID: product, audience: audience,
            signed: ago.map { Timestamp(millisecondsSince1970: now.millisecondsSince1970 - $0) }, at: now)
    }

    @Test("29.3 An offer that the settings do not have is not signed")
    func unknown() { #expect(Self.decision(nil) == .unknown) }

    @Test("29.3 An offer without conditions is signed for everybody, for every product, any number of times")
    func plain() {
        for audience in OfferAudience.allCases {
            #expect(Self.decision(Self.rule(), audience: audience, ago: Array(repeating: 1, count: 100)) == .sign)
        }
        #expect(Self.decision(Self.rule(), product: nil) == .sign)
    }

    @Test("29.3 An offer is for its products alone, compared byte by byte")
    func products() {
        let rule = Self.rule { $0.products = ["monthly", "caf\u{E9}"] }
        #expect(Self.decision(rule) == .sign)
        #expect(Self.decision(rule, product: "yearly") == .otherProduct)
        #expect(Self.decision(rule, product: "cafe\u{301}") == .otherProduct)
        #expect(Self.decision(rule, product: nil) == .otherProduct)
    }

    @Test("29.3 An offer for subscribers, former ones or new customers is for these alone")
    func audience() {
        for wanted in OfferAudience.allCases where wanted != .everybody {
            let rule = Self.rule { $0.audience = wanted }
            for audience in OfferAudience.allCases where audience != .everybody {
                #expect(
                    Self.decision(rule, audience: audience) == (audience == wanted ? .sign : .otherAudience(wanted)))
            }
        }
    }

    @Test("29.3 A limit counts all signatures, or those of the time that the settings name")
    func limit() {
        let ever = Self.rule { $0.limit = 2 }
        #expect(Self.decision(ever, ago: [900_000_000]) == .sign)
        #expect(Self.decision(ever, ago: [0, 900_000_000]) == .exhausted(limit: 2))
        let daily = Self.rule { ($0.limit, $0.within) = (1, 86_400_000) }
        #expect(Self.decision(daily, ago: [86_399_999]) == .exhausted(limit: 1))
        #expect(Self.decision(daily, ago: [86_400_000]) == .sign)
        // A clock that was set back does not give an offer again.
        #expect(Self.decision(daily, ago: [-1_000]) == .exhausted(limit: 1))
    }
}
