import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Subscriptions that are paid in several billing periods: what the App Store signed is shown, and decides nothing.
@Suite("Commitments")
struct CommitmentTests {
    private static func date(_ day: Double) -> Date { MintedWorld.moment.addingTimeInterval(3600 + day * 86_400) }

    private static func milliseconds(_ day: Double) -> Int64 { Int64(date(day).timeIntervalSince1970 * 1000) }

    /// A billing period of a plan of twelve, from the first day of each 30.
    private static func payment(_ number: Int64, signed: Double? = nil) -> SignedTransactionTemplate {
        let start = Double(number - 1) * 30
        return LedgerWorld.template(
            "90\(number)", product: LedgerWorld.yearly
        ) {
            $0.originalTransactionID = "901"
            $0.purchaseDate = date(start)
            $0.expiresDate = date(start + 30)
            $0.signedDate = date(signed ?? start)
            $0.commitmentInfo = [
                Claim("billingPeriodNumber", .integer(number)), Claim("totalBillingPeriods", .integer(12)),
                Claim("commitmentExpiresDate", .integer(milliseconds(360))), Claim("commitmentPrice", .integer(4990)),
            ]
        }
    }

    /// A notification about the renewal of a billing period.
    private static func news(_ number: Int64, on day: Double, follows: Int64?) throws -> [UInt8] {
        let period = payment(number, signed: day)
        var renewal = RenewalInfoTemplate(transaction: period)
        renewal.signedDate = date(day)
        renewal.autoRenewStatus = 1
        if let follows {
            renewal.commitmentInfo = [
                Claim("commitmentAutoRenewStatus", .integer(follows)),
                Claim("commitmentRenewalDate", .integer(milliseconds(360))),
            ]
        }
        var template = NotificationTemplate(
            notificationType: "DID_CHANGE_RENEWAL_STATUS", transaction: period, renewalInfo: renewal)
        template.notificationUUID = UUID().uuidString.lowercased()
        return try MintedWorld.mint(template)
    }

    private static func commitment(_ info: RenewalInfo?) -> [String]? {
        info?.commitment.map { commitment in
            [
                commitment.period.map { "\($0)" }, commitment.periods.map { "\($0)" },
                commitment.until.map { "\($0)" }, commitment.renews.map { "\($0)" },
            ].map { $0 ?? "-" }
        }
    }

    private static func purchases(_ world: LedgerWorld) async throws -> [RecordedPurchase] {
        try await world.ledger.answer(PurchasesOfCustomer(app: "example", customerID: "alice", limit: 10)).entries
    }

    @Test(
        "28.2 A commitment is shown with the entitlement and each purchase: the period, of how many, its end, what follows"
    )
    func shown() async throws {
        let end = "\(Timestamp(Self.date(360)))"
        try await LedgerWorld.with { world in
            // Only the transaction states it.
            _ = try await world.claim("901", product: LedgerWorld.yearly, try MintedWorld.mint(Self.payment(1)))
            let first = try #require(try await world.entitlement(LedgerWorld.yearly)?.renewal)
            #expect(Self.commitment(first.info) == ["1", "12", end, "-"])
            #expect(first.stamp == Timestamp(Self.date(0)) && first.info.autoRenewStatus == nil)
            // Renewal info that states nothing about it, and then what follows.
            world.clock.advance(days: 31)
            let steps: [(day: Double, follows: Int64?, shown: String)] = [
                (30, nil, "-"), (30.1, 1, "true"), (30.2, 0, "false"), (30.3, 7, "-"),
            ]
            for (day, follows, shown) in steps {
                try await world.observe(try Self.news(2, on: day, follows: follows))
                let entitlement = try #require(try await world.entitlement(LedgerWorld.yearly))
                #expect(entitlement.until == Timestamp(Self.date(60)) && entitlement.state == .active)
                #expect(Self.commitment(entitlement.renewal?.info) == ["2", "12", end, shown])
                #expect(entitlement.renewal?.info.autoRenewStatus == 1)
                #expect(entitlement.renewal?.stamp == Timestamp(Self.date(day)))
            }
            let purchases = try await Self.purchases(world)
            #expect(
                purchases.map { Self.commitment($0.renewal?.info) } == [["2", "12", end, "-"], ["1", "12", end, "-"]])
            // Another form of a member is not shown; a plain subscription has none.
            _ = try await world.claim(
                "950",
                try LedgerWorld.period("950", original: "950", from: 0) {
                    $0.commitmentInfo = [Claim("billingPeriodNumber", .string("one"))]
                })
            _ = try await world.claim("951", try LedgerWorld.period("951", original: "951", from: 0))
            #expect(try await Self.purchases(world).prefix(2).allSatisfy { $0.renewal == nil })
        }
    }

    @Test("28.2 renewal_changed tells whether another commitment follows, in every order, and shows the commitment")
    func changes() async throws {
        let steps: [(day: Double, follows: Int64)] = [(1, 1), (2, 0), (3, 1)]
        for order in steps.indices.permutations {
            try await LedgerWorld.with { world in
                _ = try await world.claim("901", product: LedgerWorld.yearly, try MintedWorld.mint(Self.payment(1)))
                for place in order + order {
                    try await world.observe(try Self.news(1, on: steps[place].day, follows: steps[place].follows))
                }
                let events = try await world.ledger.answer(EventList(app: "example", limit: 100)).map(\.content)
                    .filter { $0.type == EventType.renewalChanged.rawValue }
                // From the state before anything was signed, in which another commitment follows.
                var (expected, before, newest): ([String], Int64, Double) = ([], 1, 0)
                for place in order where steps[place].day > newest {
                    newest = steps[place].day
                    if steps[place].follows != before { expected.append("\(steps[place].follows == 1)") }
                    before = steps[place].follows
                }
                #expect(events.map { $0.changed ?? [] } == expected.map { _ in ["commitment"] }, "\(order)")
                #expect(events.compactMap { Self.commitment($0.renewal?.info)?.last } == expected, "\(order)")
                for event in events {
                    #expect(Self.commitment(event.renewal?.info)?.prefix(2) == ["1", "12"])
                    #expect(
                        event.formerRenewal == nil
                            || Self.commitment(event.formerRenewal?.info)?.prefix(2) == ["1", "12"])
                    #expect(event.customerID == LedgerWorld.customer)
                }
            }
        }
    }
}
