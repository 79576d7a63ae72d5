import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TestSupport
import Testing

/// Seats of subscriptions whose members the backend invites, over HTTP.
@Suite("Seats over HTTP")
struct SeatRouteTests {
    var world: PurchaseServerWorld { CurrentWorld.opened() }

    private static let monthly = "com.example.app.monthly"
    private static let seats = "/v1/subscriptions/900/seats"

    /// A month of a team with two seats, which begins now.
    private static func team(_ world: PurchaseServerWorld) throws -> String {
        var template = SignedTransactionTemplate()
        template.transactionID = "900"
        template.originalTransactionID = "900"
        template.bundleID = "com.example.app"
        template.productID = monthly
        template.type = .autoRenewableSubscription
        template.purchaseDate = Date(timeIntervalSince1970: Double(world.clock.now.millisecondsSince1970) / 1000)
        template.originalPurchaseDate = template.purchaseDate
        template.signedDate = template.purchaseDate
        template.expiresDate = template.purchaseDate?.addingTimeInterval(30 * 86_400)
        template.environment = "Sandbox"
        template.quantity = 2
        template.extra.append(Claim("multiSeatInfo", .object([Claim("invitationManagement", .string("DEVELOPER"))])))
        return String(decoding: try MintedWorld.mint(template), as: UTF8.self)
    }

    @Test("28.2 A backend claims, lists and unclaims seats, and a member's subscriptions show theirs", .server)
    func seats() async throws {
        var purchase = PurchaseRequest(productID: Self.monthly, transactionID: "900")
        purchase.customerID = "alice"
        purchase.signedTransaction = try Self.team(world)
        let bought = try await world.send(.post, "/v1/purchases", purchase, as: .client)
        #expect(bought.status == 200, "\(bought.text)")
        let answer = try bought.message(PurchaseAnswer.self)
        #expect(answer.transaction.seats == 2 && answer.entitlement?.seats == 2)

        let request = SeatRequest(customerID: "bob", requestID: "r1", appTransactionID: "704089200000000001")
        let claimed = try await world.send(.post, Self.seats, request, as: .backend)
        #expect(claimed.status == 201, "\(claimed.text)")
        let seat = try claimed.message(SeatMessage.self)
        #expect(seat.seated && seat.replayed == false && seat.customerID == "bob" && seat.environment == .sandbox)
        let again = try await world.send(.post, Self.seats, request, as: .backend)
        #expect(try again.status == 200 && again.message(SeatMessage.self).seatID == seat.seatID)
        #expect(try await world.entitlements(of: "bob").map(\.state) == [.active])
        let other = SeatRequest(customerID: "carol", requestID: "r2", seatID: "A")
        #expect(try await world.send(.post, Self.seats, other, as: .backend).status == 201)

        for (refused, status, code) in [
            (SeatRequest(customerID: "dave", requestID: "r3"), 409, "no_seat"),
            (SeatRequest(customerID: "dave", requestID: "r1"), 422, "idempotency_key_reused"),
            (SeatRequest(customerID: "bob", requestID: "r1", seatID: "B"), 422, "idempotency_key_reused"),
            (SeatRequest(customerID: "dave", requestID: "r3", seatID: "A"), 409, "seat_taken"),
        ] {
            let answer = try await world.send(.post, Self.seats, refused, as: .backend)
            #expect(try answer.status == status && answer.problem == code)
        }
        let unknown = try await world.send(.post, "/v1/subscriptions/1/seats", request, as: .backend)
        #expect(try unknown.line == "404 purchase_unknown")
        #expect(try await world.send(.post, Self.seats, request, as: .client).status == 403)

        let first = try await world.send(.get, "\(Self.seats)?limit=1", as: .backend).message(SeatPage.self)
        #expect(first.total == 2 && first.claimed == 2 && first.seats.map(\.customerID) == ["bob"])
        let cursor = try #require(first.nextCursor)
        let second = try await world.send(.get, "\(Self.seats)?limit=1&cursor=\(cursor)", as: .backend)
            .message(SeatPage.self)
        #expect(second.seats.map(\.seatID) == ["A"] && second.nextCursor == nil)

        let list = try await world.send(.get, "/v1/customers/bob/subscriptions", as: .backend)
            .message(SubscriptionList.self)
        #expect(list.subscriptions.map(\.originalTransactionID) == ["900"])
        #expect(list.subscriptions.first?.seat?.seatID == seat.seatID)
        #expect(list.subscriptions.first?.entitlement.state == .active)
        let own = try await world.send(.get, "/v1/customers/alice/subscriptions", as: .backend)
            .message(SubscriptionList.self)
        #expect(own.subscriptions.map(\.entitlement.seats) == [2] && own.subscriptions.first?.seat == nil)

        for _ in 1...2 {
            let ended = try await world.send(.delete, "\(Self.seats)/\(seat.seatID)", as: .backend)
            #expect(ended.status == 204 && ended.text.isEmpty)
        }
        #expect(try await world.send(.delete, "\(Self.seats)/B", as: .backend).problem == "seat_unknown")
        #expect(try await world.entitlements(of: "bob").map(\.reason) == [.seatUnclaimed])
        let new = SeatRequest(customerID: "dave", requestID: "r4", seatID: seat.seatID)
        #expect(try await world.send(.post, Self.seats, new, as: .backend).problem == "seat_unclaimed")
        let events = try await world.send(.get, "/v1/events?customer_id=bob", as: .backend).message(EventPage.self)
        #expect(events.events.map(\.type) == [.seatClaimed, .seatUnclaimed])
        #expect(events.events.map(\.originalTransactionID) == ["900", "900"])
    }
}

/// A subscription that is paid in several billing periods, over HTTP.
@Suite("Commitments over HTTP")
struct CommitmentRouteTests {
    var world: PurchaseServerWorld { CurrentWorld.opened() }

    @Test(
        "28.2 The wire names of a commitment, in the entitlement, the purchase and the event renewal_changed",
        .server)
    func names() async throws {
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
        #expect(try await world.send(.post, "/notifications/v2", request, as: nil, idempotencyKey: nil).status == 200)
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
