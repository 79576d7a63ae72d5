import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

/// Grants and revocations by an operator, over HTTP.
@Suite("Grants and revocations", .server)
struct GrantRouteTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    private static let (coins, pro) = ("com.example.app.coins", "com.example.app.pro")

    @Test("A grant gives access, its revocation ends it, lifting restores it, and the end of the grant is final")
    func grant() async throws {
        let created = try await world.send(
            .post, "/v1/customers/bob/grants", GrantRequest(productID: Self.pro, reason: "goodwill"))
        #expect(created.status == 201)
        let grant = try created.message(GrantMessage.self)
        #expect(grant.environment == .production && grant.quantity == 1 && grant.reason == "goodwill")
        #expect(try await world.entitlements(of: "bob").map(\.state) == [.active])
        let named = try await world.send(.get, "/v1/customers/bob/entitlements", as: .backend)
        #expect(
            try named.message(EntitlementList.self).named
                == [NamedEntitlementMessage(name: "pro", state: .active, products: [Self.pro])])

        let revoked = try await world.send(
            .post, "/v1/customers/bob/revocations",
            RevocationRequest(grantID: grant.grantID, reason: "by mistake"))
        #expect(revoked.status == 201)
        let revocation = try revoked.message(RevocationMessage.self)
        #expect(try await world.entitlements(of: "bob").map(\.reason) == [.revokedByHand])

        // The id of a grant is not found as a revocation, and vice versa.
        let wrong = [
            "/v1/customers/bob/grants/\(revocation.revocationID)",
            "/v1/customers/bob/revocations/\(grant.grantID)", "/v1/customers/alice/grants/\(grant.grantID)",
            "/v1/customers/bob/grants/1",
        ]
        for path in wrong {
            let answer = try await world.send(.delete, "\(path)?reason=x")
            #expect(try answer.line == "404 grant_unknown")
        }
        for _ in 0..<2 {
            let lifted = try await world.send(
                .delete, "/v1/customers/bob/revocations/\(revocation.revocationID)?reason=r%C3%BCckg%C3%A4ngig")
            #expect(lifted.status == 204 && lifted.text.isEmpty)
            #expect(try await world.entitlements(of: "bob").map(\.state) == [.active])
        }
        let ended = try await world.send(.delete, "/v1/customers/bob/grants/\(grant.grantID)?reason=over")
        #expect(ended.status == 204)
        #expect(try await world.entitlements(of: "bob").map(\.state) == [.withdrawn])
        let events = try await world.send(.get, "/v1/events", as: .backend).message(EventPage.self).events
        #expect(events.map(\.type) == [.grantAdded, .revocationAdded, .actLifted, .actLifted])
        #expect(events.map(\.reason) == ["goodwill", "by mistake", "rückgängig", "over"])
    }

    @Test("A repeated grant of units under its Idempotency-Key is one grant, and another request under it is refused")
    func idempotency() async throws {
        let grant = GrantRequest(productID: Self.coins, quantity: 10, reason: "goodwill")
        var ids: Set<String> = []
        for _ in 0..<3 {
            let answer = try await world.send(.post, "/v1/customers/bob/grants", grant, idempotencyKey: "1")
            #expect(answer.status == 201)
            ids.insert(try answer.message(GrantMessage.self).grantID)
        }
        #expect(ids.count == 1)
        #expect(try await world.entitlements(of: "bob").map(\.balance) == [10])
        let other = try await world.send(
            .post, "/v1/customers/bob/grants",
            GrantRequest(productID: Self.coins, quantity: 11, reason: "goodwill"), idempotencyKey: "1")
        #expect(try other.line == "422 idempotency_key_reused")
        let revocation = RevocationRequest(grantID: ids.first, reason: "no")
        for _ in 0..<2 {
            let answer = try await world.send(.post, "/v1/customers/bob/revocations", revocation, idempotencyKey: "2")
            #expect(answer.status == 201)
            ids.insert(try answer.message(RevocationMessage.self).revocationID)
        }
        #expect(ids.count == 2)
        #expect(try await world.entitlements(of: "bob").map(\.balance) == [0])
    }

    @Test("A manual revocation revokes a purchase for its owner only, regardless of Apple's facts")
    func revocation() async throws {
        let claim = try PurchaseServerWorld.purchase("2000000000000002", product: Self.pro)
        #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
        let request = RevocationRequest(transactionID: "2000000000000002", reason: "chargeback")
        let stranger = try await world.send(.post, "/v1/customers/nobody/revocations", request)
        #expect(try stranger.problem == "customer_unknown" && stranger.status == 404)
        _ = try await world.send(
            .post, "/v1/customers/bob/grants", GrantRequest(productID: Self.pro, reason: "goodwill"))
        let other = try await world.send(.post, "/v1/customers/bob/revocations", request)
        #expect(try other.problem == "purchase_unknown" && other.status == 404)
        let elsewhere = RevocationRequest(
            transactionID: "2000000000000002", environment: .production, reason: "chargeback")
        let production = try await world.send(.post, "/v1/customers/alice/revocations", elsewhere)
        #expect(try production.problem == "purchase_unknown")
        #expect(try await world.send(.post, "/v1/customers/alice/revocations", request).status == 201)
        let again = try await world.send(.post, "/v1/purchases", claim, as: .client)
        #expect(try again.status == 422 && again.document?.disposition == .refused, "\(again.text)")
        let state = try await world.entitlements(of: "alice").first { $0.productID == Self.pro }
        #expect(state?.state == .withdrawn && state?.reason == .revokedByHand)
    }

    @Test("An invalid request grants nothing, and the answer has the member and the expected form")
    func refusals() async throws {
        let long = String(repeating: "x", count: 501)
        let (pro, reason) = (#"{"product_id":"\#(Self.pro)","reason":"r","#, "reason: \(RequestMembers.reasonRule)")
        let coins = #"{"product_id":"\#(Self.coins)","reason":"r","#
        let cases: [(String, String, String, String?)] = [
            ("grants", "", "400 field_missing", "product_id"),
            ("grants", "[]", "400 body_malformed", "a JSON object"),
            ("grants", #"{"product_id":"p"}"#, "400 field_missing", "reason"),
            ("grants", #"{"product_id":"p","reason":" "}"#, "400 field_malformed", reason),
            ("grants", #"{"product_id":"p","reason":"a\u0000b"}"#, "400 field_malformed", reason),
            ("grants", #"{"product_id":"p","reason":"\#(long)"}"#, "400 field_malformed", reason),
            ("grants", #"{"product_id":"p","reason":"r"}"#, "422 product_unknown", nil),
            ("grants", pro + #""environment":"Moon"}"#, "400 field_malformed", "environment: Production, Sandbox"),
            (
                "grants", pro + #""until":"tomorrow"}"#, "400 field_malformed",
                "until: a time such as 2030-01-31T10:00:00Z"
            ),
            ("grants", pro + #""until":"2001-01-01T00:00:00Z"}"#, "400 field_malformed", "until: a time in the future"),
            (
                "grants", pro + #""quantity":2}"#, "400 field_malformed",
                "quantity: 1, because only a consumable has units"
            ),
            (
                "grants", coins + #""until":"2099-01-01T00:00:00Z"}"#, "400 field_malformed",
                "until: absent, because units of a consumable do not end"
            ), ("revocations", #"{"reason":"r"}"#, "400 field_missing", "transaction_id or grant_id"),
            (
                "revocations", #"{"transaction_id":"1","grant_id":"2","reason":"r"}"#, "400 field_malformed",
                "grant_id: transaction_id or grant_id, not both"
            ), ("revocations", #"{"transaction_id":"1"}"#, "400 field_missing", "reason"),
            ("revocations", #"{"grant_id":"1","reason":"r"}"#, "404 grant_unknown", "1"),
        ]
        for (kind, body, line, expected) in cases {
            let answer = try await world.send(.post, "/v1/customers/bob/\(kind)", data: Data(body.utf8))
            #expect(try answer.line == line && answer.document?.expected == expected, "\(body): \(answer.text)")
            #expect(try answer.document?.detail?.isEmpty == false)
        }
        let id = UUID().uuidString
        let bare = try await world.send(.delete, "/v1/customers/bob/grants/\(id)")
        #expect(try bare.problem == "field_missing" && bare.document?.expected == "reason")
        let blank = try await world.send(.delete, "/v1/customers/bob/revocations/\(id)?reason=%20")
        #expect(try blank.problem == "field_malformed" && blank.status == 400)
        let unknown = try await world.send(.delete, "/v1/customers/bob/revocations/\(id)?reason=x")
        #expect(try unknown.problem == "grant_unknown" && unknown.status == 404)
        #expect(try await world.entitlements(of: "bob").isEmpty)
        let events = try await world.send(.get, "/v1/events", as: .backend).message(EventPage.self)
        #expect(events.events.isEmpty)
    }
}

/// What other shops give, over HTTP.
@Suite("Grounds from outside over HTTP", .server)
struct GroundRouteTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    private static let (pro, monthly) = ("com.example.app.pro", "com.example.app.monthly")
    private static let path = "/v1/customers/bob/grounds"

    @Test("28.4 A backend records, extends, lists and ends what another shop gives, and the entitlement names the shop")
    func life() async throws {
        var request = GroundRequest(
            source: "stripe", reference: "sub_1", productID: Self.pro, until: "2040-01-31T10:00:00Z")
        let created = try await world.send(.post, Self.path, request, as: .backend)
        #expect(created.status == 201)
        let ground = try created.message(GroundMessage.self)
        #expect(ground.replayed == false && ground.environment == .production && ground.source == "stripe")
        let again = try await world.send(.post, Self.path, request, as: .backend)
        #expect(try again.status == 200 && again.message(GroundMessage.self).replayed == true)
        let entitlement = try #require(try await world.entitlements(of: "bob").first)
        #expect(entitlement.state == .active && entitlement.sources == ["stripe"])
        request.until = "2041-01-31T10:00:00Z"
        #expect(try await world.send(.post, Self.path, request, as: .backend).status == 201)
        // The first request, repeated late, changes nothing; an end that was never sent is refused.
        request.until = "2040-01-31T10:00:00Z"
        let late = try await world.send(.post, Self.path, request, as: .backend)
        #expect(try late.status == 200 && late.message(GroundMessage.self).until == "2041-01-31T10:00:00Z")
        request.until = "2040-02-29T10:00:00Z"
        let earlier = try await world.send(.post, Self.path, request, as: .backend)
        #expect(try earlier.line == "409 ground_differs")
        #expect(earlier.text.contains("2041-01-31T10:00:00Z") && earlier.text.contains("2040-02-29T10:00:00Z"))
        #expect(try await world.send(.post, Self.path, request, as: .client).status == 403)
        let list = try await world.send(.get, Self.path, as: .backend).message(GroundList.self)
        #expect(list.grounds.map(\.groundID) == [ground.groundID])
        #expect(list.grounds.first?.until == "2041-01-31T10:00:00Z" && list.grounds.first?.replayed == nil)
        for wrong in ["/v1/customers/alice/grounds/\(ground.groundID)", "\(Self.path)/1"] {
            let answer = try await world.send(.delete, wrong, as: .backend)
            #expect(try answer.line == "404 ground_unknown")
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

    @Test(
        "28.2 An event about a renewal has both values and the price on the wire, and the purchase shows the renewal, too"
    )
    func renewal() async throws {
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
