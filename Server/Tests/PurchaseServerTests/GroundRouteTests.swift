import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

/// What other shops give, over HTTP.
@Suite("Grounds from outside over HTTP")
struct GroundRouteTests {
    private static let (pro, monthly) = ("com.example.app.pro", "com.example.app.monthly")
    private static let path = "/v1/customers/bob/grounds"

    @Test("28.4 A backend records, extends, lists and ends what another shop gives, and the entitlement names the shop")
    func life() async throws {
        try await PurchaseServerWorld.run { world async throws in
            var request = GroundRequest(
                source: "stripe", reference: "sub_1", productID: Self.pro, until: "2040-01-31T10:00:00Z")
            let created = try await world.send(.post, Self.path, request, as: .backend)
            #expect(created.status == 201)
            let ground = try created.message(GroundMessage.self)
            #expect(ground.replayed == false && ground.environment == .production && ground.source == "stripe")
            let again = try await world.send(.post, Self.path, request, as: .backend)
            #expect(again.status == 200)
            #expect(try again.message(GroundMessage.self).replayed == true)
            let entitlement = try #require(try await world.entitlements(of: "bob").first)
            #expect(entitlement.state == .active && entitlement.sources == ["stripe"])
            request.until = "2041-01-31T10:00:00Z"
            #expect(try await world.send(.post, Self.path, request, as: .backend).status == 201)
            // The first request, repeated late, changes nothing; an end that was never sent is refused.
            request.until = "2040-01-31T10:00:00Z"
            let late = try await world.send(.post, Self.path, request, as: .backend)
            #expect(late.status == 200)
            #expect(try late.message(GroundMessage.self).until == "2041-01-31T10:00:00Z")
            request.until = "2040-02-29T10:00:00Z"
            let earlier = try await world.send(.post, Self.path, request, as: .backend)
            #expect(earlier.status == 409)
            #expect(try earlier.problem == "ground_differs")
            #expect(earlier.text.contains("2041-01-31T10:00:00Z") && earlier.text.contains("2040-02-29T10:00:00Z"))
            #expect(try await world.send(.post, Self.path, request, as: .client).status == 403)
            let list = try await world.send(.get, Self.path, as: .backend).message(GroundList.self)
            #expect(list.grounds.map(\.groundID) == [ground.groundID])
            #expect(list.grounds.first?.until == "2041-01-31T10:00:00Z" && list.grounds.first?.replayed == nil)
            for wrong in ["/v1/customers/alice/grounds/\(ground.groundID)", "\(Self.path)/1"] {
                let answer = try await world.send(.delete, wrong, as: .backend)
                #expect(answer.status == 404)
                #expect(try answer.problem == "ground_unknown")
            }
            let grant = try await world.send(.delete, "/v1/customers/bob/grants/\(ground.groundID)?reason=x")
            #expect(grant.status == 404)
            for _ in 0..<2 {
                #expect(try await world.send(.delete, "\(Self.path)/\(ground.groundID)", as: .backend).status == 204)
            }
            let ended = try #require(try await world.entitlements(of: "bob").first)
            #expect(ended.state == .expired && ended.sources == nil)
            let events = try await world.send(.get, "/v1/events", as: .backend).message(EventPage.self).events
            #expect(events.map(\.type) == [.groundAdded, .groundAdded, .groundEnded])
            #expect(events.map(\.reason) == ["stripe", "stripe", "stripe"])
        }
    }

    @Test(
        "28.2 An event about a renewal has both values and the price on the wire, and the purchase shows the renewal, too"
    )
    func renewal() async throws {
        try await PurchaseServerWorld.run { world async throws in
            var period = SignedTransactionTemplate()
            let bought = try PurchaseServerWorld.signed("901", product: Self.monthly) {
                $0.type = .autoRenewableSubscription
                $0.expiresDate = MintedWorld.moment.addingTimeInterval(30 * 86_400)
                ($0.price, $0.currency) = (4990, "EUR")
                period = $0
            }
            _ = try await world.send(.post, "/v1/purchases", bought.claim())
            for (status, seconds) in [(Int64(1), 10.0), (0, 20)] {
                var renewal = RenewalInfoTemplate(transaction: period)
                renewal.autoRenewStatus = status
                renewal.signedDate = MintedWorld.moment.addingTimeInterval(seconds)
                var signed = period
                signed.signedDate = renewal.signedDate
                let payload = try MintedWorld.mint(
                    NotificationTemplate(
                        notificationType: "DID_CHANGE_RENEWAL_STATUS", transaction: signed, renewalInfo: renewal))
                let request = NotificationRequest(signedPayload: String(decoding: payload, as: UTF8.self))
                #expect(
                    try await world.send(.post, "/notifications/v2", request, as: nil, idempotencyKey: nil).status
                        == 200)
            }
            let events = try await world.send(.get, "/v1/events", as: .backend).message(EventPage.self).events
            let change = try #require(events.last)
            #expect(events.map(\.type) == [.granted, .renewalChanged] && change.changed == [.autoRenew])
            #expect(change.formerRenewal?.autoRenew == true && change.renewal?.autoRenew == false)
            #expect(change.price == 4990 && change.currency == "EUR" && change.customerID == "alice")
            let purchases = try await world.send(.get, "/v1/customers/alice/purchases", as: .backend)
                .message(TransactionPage.self)
            #expect(purchases.purchases.first?.renewal == change.renewal)
            let entitlement = try #require(try await world.entitlements(of: "alice").first)
            #expect(entitlement.lastConfirmedAt == change.renewal?.signedAt && entitlement.cancelReason == nil)
        }
    }
}
