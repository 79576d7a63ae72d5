import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Changes of a renewal", .ledger)
struct RenewalChangeTests {
    let world: LedgerWorld = CurrentWorld.opened()

    /// A notification about the renewal of a subscription, with its first period.
    private static func news(
        of original: String, on day: Double, id: String? = nil, token: UUID? = nil,
        _ change: (inout RenewalInfoTemplate) -> Void = { _ in }
    ) throws -> [UInt8] {
        let period = LedgerWorld.template(
            "\(original)1", product: LedgerWorld.monthly
        ) {
            $0.originalTransactionID = original
            $0.expiresDate = $0.purchaseDate?.addingTimeInterval(30 * 86_400)
            $0.signedDate = Self.date(day)
            $0.appAccountToken = token?.uuidString.lowercased()
        }
        var renewal = RenewalInfoTemplate(transaction: period)
        change(&renewal)
        var template = NotificationTemplate(
            notificationType: "DID_CHANGE_RENEWAL_PREF", transaction: period, renewalInfo: renewal)
        template.notificationUUID = id ?? UUID().uuidString.lowercased()
        return try MintedWorld.mint(template)
    }

    private static func date(_ day: Double) -> Date { MintedWorld.moment.addingTimeInterval(3600 + day * 86_400) }

    private static func claim(_ original: String, by customer: String = LedgerWorld.customer, _ world: LedgerWorld)
        async throws
    {
        let outcome = try await world.claim(
            "\(original)1", customer: customer,
            try LedgerWorld.period("\(original)1", original: original, from: 0))
        #expect(outcome.code == "accepted")
    }

    private static func changes(_ world: LedgerWorld) async throws -> [EventContent] {
        try await world.ledger.answer(EventList(app: "example", limit: 100_000)).map(\.content)
            .filter { $0.type == EventType.renewalChanged.rawValue }
    }

    @Test(
        "28.2 The first renewal info of a plain subscription is no event, and each field that changes is named with both values"
    )
    func fields() async throws {
        try await Self.claim("90", world)
        try await world.observe(try Self.news(of: "90", on: 0.1))
        // A price alone is shown, and is no change to act on.
        try await world.observe(try Self.news(of: "90", on: 0.2) { $0.renewalPrice = 1990 })
        #expect(try await Self.changes(world).isEmpty)
        let grace = Self.date(36)
        let steps: [([String], (inout RenewalInfoTemplate) -> Void)] = [
            (["auto_renew"], { $0.autoRenewStatus = 0 }),
            (["auto_renew", "next_product"], { $0.autoRenewProductID = LedgerWorld.yearly }),
            (
                ["price_consent"],
                {
                    $0.autoRenewProductID = LedgerWorld.yearly; $0.priceIncreaseStatus = 0
                }
            ),
            (["next_product", "price_consent"], { $0.priceIncreaseStatus = 1 }),
            (
                ["price_consent", "offer"],
                {
                    $0.offerType = 2; $0.offerIdentifier = "spring"
                }
            ),
            (
                ["billing_retry", "grace_until", "offer"],
                {
                    $0.isInBillingRetryPeriod = true; $0.gracePeriodExpiresDate = grace
                }
            ),
            (["grace_until"], { $0.isInBillingRetryPeriod = true }),
            (["billing_retry"], { _ in }),
        ]
        for (place, step) in steps.enumerated() {
            try await world.observe(try Self.news(of: "90", on: Double(place + 1), step.1))
        }
        let changes = try await Self.changes(world)
        #expect(changes.map(\.changed) == steps.map(\.0))
        #expect(changes.allSatisfy { $0.customerID == LedgerWorld.customer && $0.originalTransactionID == "90" })
        #expect(changes.first?.formerRenewal?.info.autoRenewStatus == 1)
        #expect(changes.first?.renewal?.info.autoRenewStatus == 0)
        #expect(changes.map(\.formerRenewal).dropFirst() == changes.map(\.renewal).dropLast())
        #expect(changes[5].until == Timestamp(grace) && changes[5].renewal?.info.graceEnd == Timestamp(grace))
        #expect(changes.allSatisfy { $0.renewal?.info.appTransactionID == nil && $0.price == 990 })
    }

    @Test("28.2 Renewal info in every order, twice, tells no change twice, and the newest event has the present value")
    func everyOrder() async throws {
        let steps: [(inout RenewalInfoTemplate) -> Void] = [
            { _ in }, { $0.autoRenewStatus = 0 }, { $0.autoRenewProductID = LedgerWorld.yearly },
            { $0.priceIncreaseStatus = 0 },
        ]
        for (number, order) in steps.indices.permutations.enumerated() {
            let original = "\(7000 + number)"
            try await Self.claim(original, world)
            var told: [Timestamp] = []
            for place in order + order {
                try await world.observe(
                    try Self.news(
                        of: original, on: Double(place + 1),
                        id: "00000000-0000-4000-8000-00000\(original)\(place)00", steps[place]))
                let own = try await Self.changes(world).filter { $0.originalTransactionID == original }
                told = own.compactMap(\.renewal?.stamp)
            }
            #expect(told == Array(Set(told)).sorted(), "\(order)")
            #expect(told.last == Timestamp(Self.date(4)), "\(order)")
        }
    }

    @Test("28.2 Renewal info that arrives before the first period is told with it, once")
    func beforeThePeriod() async throws {
        var renewal = RenewalInfoTemplate(
            transaction: LedgerWorld.template("901", product: LedgerWorld.monthly) {
                $0.originalTransactionID = "90"
            })
        renewal.autoRenewStatus = 0
        let info = try MintedWorld.mint(renewal)
        try await world.observe(info)
        #expect(try await Self.changes(world).isEmpty)
        try await Self.claim("90", world)
        try await world.observe(info)
        try await Self.claim("90", world)
        let changes = try await Self.changes(world)
        #expect(changes.map(\.changed) == [["auto_renew"]] && changes.first?.formerRenewal == nil)
    }

    @Test("28.2 The event of a held subscription has no customer, and goes out in the order of its original")
    func held() async throws {
        for (original, day) in [("90", 1.0), ("80", 2), ("90", 3)] {
            try await world.observe(try Self.news(of: original, on: day) { $0.autoRenewStatus = day == 3 ? 1 : 0 })
        }
        let changes = try await Self.changes(world)
        #expect(changes.map(\.originalTransactionID) == ["90", "80", "90"])
        #expect(changes.allSatisfy { $0.customerID == nil && $0.changed == ["auto_renew"] })
        let lanes = try await world.ledger.answer(OutgoingEvents(app: "example", after: 0, limit: 100))
            .filter { event in
                guard case .event(let content) = event.content else { return false }
                return content.type == "renewal_changed"
            }.map(\.customer)
        #expect(Set(lanes).count == 2 && lanes.first == lanes.last && lanes.allSatisfy { $0 < 0 })
        // Somebody else's notice in the lane of its original does not come twice after a claim.
        try await Self.claim("90", world)
        #expect(try await Self.changes(world).count == 3)
    }
}

extension Collection {
    /// Every order of the elements.
    var permutations: [[Element]] {
        guard !isEmpty else { return [[]] }
        return indices.flatMap { place -> [[Element]] in
            let rest = Array(self[..<place]) + Array(self[index(after: place)...])
            return rest.permutations.map { [self[place]] + $0 }
        }
    }
}
