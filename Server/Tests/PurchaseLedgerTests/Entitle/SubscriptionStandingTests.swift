import PurchaseLedger
import PurchaseVerification
import Testing

/// Whether what is known about a subscription is up to date (docs/drop-in.md, "live").
@Suite("What is known about a subscription")
struct SubscriptionStandingTests {
    /// Whether news confirm what is known of one period, from day 0 to day 30.
    private static func isConfirmed(
        on day: Double, renewal: RenewalStatement? = nil, status: SignedStatus? = nil
    ) -> Bool? {
        var story = PurchaseStory()
        story.claim("1", PurchaseStory.alice)
        story.statements = [.signed("1", "monthly", .autoRenewable, on: 0, until: 30)]
        return SubscriptionTable(story.purchases, renewal: renewal.map(ObservedRenewal.init), status: status)
            .standing(.at(.day(day)))?.isConfirmed
    }

    @Test("33.3 A status confirms a period if it was signed after its start")
    func status() {
        let stamps = [-1, 0, 0.001, 10]
        let confirmed = stamps.map {
            Self.isConfirmed(on: 15, status: SignedStatus(value: 1, stamp: .day($0)))
        }
        #expect(confirmed == [false, false, true, true])
        #expect(Self.isConfirmed(on: 15) == false)
    }

    @Test("33.3 Renewal info confirms the end of a period if it was signed at its end or later, or says why it ended")
    func end() {
        let told = [(10, nil), (29.999, nil), (30, nil), (31, nil), (10, 1), (31, 1)] as [(Double, Int64?)]
        let confirmed = told.map { stamp, intent in
            Self.isConfirmed(
                on: 40, renewal: .signed("1", stamp: stamp, autoRenew: 0, intent: intent, beside: "1"))
        }
        #expect(confirmed == [false, false, true, true, true, true])
    }
}
