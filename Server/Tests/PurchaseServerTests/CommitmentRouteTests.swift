import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// A subscription that is paid in several billing periods, over HTTP.
@Suite("Commitments over HTTP")
struct CommitmentRouteTests {
    @Test("28.2 The wire names of a commitment, in the entitlement, the purchase and the event renewal_changed")
    func names() async throws {
        try await PurchaseServerWorld.run { world async throws in
            let end = MintedWorld.moment.addingTimeInterval(360 * 86_400)
            var period = SignedTransactionTemplate()
            let bought = try PurchaseServerWorld.signed("1", product: "com.example.app.monthly") {
                $0.type = .autoRenewableSubscription
                $0.expiresDate = MintedWorld.moment.addingTimeInterval(30 * 86_400)
                $0.commitmentInfo = [
                    Claim("billingPeriodNumber", .integer(3)), Claim("totalBillingPeriods", .integer(12)),
                    Claim("commitmentExpiresDate", .integer(Int64(end.timeIntervalSince1970 * 1000))),
                ]
                $0.extra = [Claim("bundleProductId", .string("suite"))]
                period = $0
            }
            #expect(try await world.send(.post, "/v1/purchases", bought.claim()).status == 200)
            period.signedDate = MintedWorld.moment.addingTimeInterval(50)
            var renewal = RenewalInfoTemplate(transaction: period)
            renewal.signedDate = period.signedDate
            renewal.autoRenewStatus = 1
            renewal.commitmentInfo = [Claim("commitmentAutoRenewStatus", .integer(0))]
            let payload = try MintedWorld.mint(
                NotificationTemplate(
                    notificationType: "DID_CHANGE_RENEWAL_STATUS", transaction: period, renewalInfo: renewal))
            let request = NotificationRequest(signedPayload: String(decoding: payload, as: UTF8.self))
            #expect(
                try await world.send(.post, "/notifications/v2", request, as: nil, idempotencyKey: nil).status == 200)
            let wire = #""commitment":{"auto_renew":false,"of":12,"period":3,"until":"\#(Timestamp(end))"}"#
            for path in ["/v1/customers/alice/entitlements", "/v1/purchases/1", "/v1/events"] {
                let answer = try await world.send(.get, path, as: .backend)
                #expect(answer.text.contains(wire), "\(path): \(answer.text)")
                let names = answer.text.contains(#""bundle_product_id":"suite""#)
                #expect(names == (path != "/v1/events"), "54.2 \(path): \(answer.text)")
            }
            let events = try await world.send(.get, "/v1/events", as: .backend).message(EventPage.self).events
            #expect(events.last?.type == .renewalChanged && events.last?.changed == [.commitment])
        }
    }
}
