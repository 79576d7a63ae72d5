import Foundation
import HTTPTypes
import NIOCore
import PurchaseAPI
import ServerTestSupport
import Testing

/// A team through some months in the simulated store. Its members are invited by the backend, which keeps their list in
/// the server.
@Suite("28.2 The seats of a team beside the store's truth")
struct TeamTests {
    @Test("28.2 After each step, the server's seats and the access of every member equal the store's truth")
    func story() async throws {
        try await DeliveredWorld.run { world in
            var team = try await Team(world, seats: 3)
            for member in ["mia", "max", "mo"] { try await team.claim(member) }
            try await team.claim("may", refusedWith: "no_seat")
            let added = try await team.act("add-seats", ["seats": 2, "notification_type": "DID_CHANGE_RENEWAL_PREF"])
            try await team.compare("two seats more", total: 5)
            try await team.claim("may")
            let addition = try #require(added["transaction_id"] as? String)
            try await team.control("transactions/\(addition)/refund-seats", ["seats": 1])
            try await team.compare("one of them is refunded", total: 4)
            try await team.control("transactions/\(addition)/refund-seats", ["seats": 1])
            try await team.compare("the whole addition is refunded, and the newest claim waits", total: 3)
            _ = try await team.act("set-seats", ["seats": 2, "notification_type": "DID_CHANGE_RENEWAL_PREF"])
            try await team.compare("the next period will have two seats", total: 3)
            try await team.control("clock", ["advance": "P1M"])
            try await team.compare("a renewal with fewer seats", total: 2)
            try await team.unclaim("mia")
            try await team.compare("the backend unclaims the oldest seat", total: 2)
            try await team.unclaimByTheStore("max")
            try await team.compare("the App Store unclaims the next one", total: 2)
            _ = try await team.act("fail-billing")
            try await team.compare("a grace period", total: 2)
            _ = try await team.act("recover")
            try await team.compare("the payment succeeds", total: 2)
            let present = try await team.present()
            try await team.control("transactions/\(present)/refund")
            try await team.compare("the whole period is refunded", total: 0)
            try await team.control("clock", ["advance": "P1D"])
            try await team.compare("a day passes", total: 0)
            try await team.control("transactions/\(present)/reverse-refund")
            try await team.compare("the refund is reversed", total: 2)
            _ = try await team.act("cancel")
            try await team.compare("the purchaser cancels", total: 2)
            try await team.control("clock", ["advance": "P2M"])
            try await team.compare("the subscription has ended", total: 0)
        }
    }
}

/// A team in the store, and what the server knows of it.
private struct Team {
    let world: DeliveredWorld
    /// The original transaction of the subscription.
    private var id = ""
    /// The members whose claims have not ended, the oldest claim first, with their seats.
    private var members: [(name: String, seat: String)] = []
    private var former: [String] = []

    init(_ world: DeliveredWorld, seats: Int) async throws {
        self.world = world
        let token = "6f1b5b5e-3c1e-4c0f-9f0a-0d7f4c1e2a3b"
        try await control("apps", ["bundle_id": DeliveredWorld.bundleID, "grace_period_days": 3])
        try await control(
            "products",
            [
                "bundle_id": DeliveredWorld.bundleID, "product_id": "team", "kind": "auto-renewable", "price": 2000,
                "subscription": ["group_id": "teams", "period": "P1M", "invitations": "DEVELOPER"],
            ])
        try await control("customers", ["customer_id": "ada", "environment": "production"])
        _ = try await server(.put, "/v1/customers/ada/app_account_token", ["app_account_token": token])
        let bought = try await control(
            "purchases",
            [
                "bundle_id": DeliveredWorld.bundleID, "product_id": "team", "customer_id": "ada", "quantity": seats,
                "app_account_token": token,
            ])
        id = try #require((bought["transaction"] as? [String: Any])?["original_transaction_id"] as? String)
        try await compare("the purchase", total: seats)
    }

    // MARK: The store

    @discardableResult
    func control(_ path: String, _ body: [String: Any] = [:]) async throws -> [String: Any] {
        try await Self.send(world.store, .post, "/control/\(path)", body).object
    }

    /// An act on the subscription.
    ///
    /// - Returns: the transaction of the answer.
    func act(_ name: String, _ body: [String: Any] = [:]) async throws -> [String: Any] {
        try #require(try await control("subscriptions/\(id)/\(name)", body)["transaction"] as? [String: Any])
    }

    /// The transaction of the present period.
    func present() async throws -> String {
        let answer = try await Self.send(world.store, .get, "/control/subscriptions/\(id)", nil).object
        return try #require((answer["transaction"] as? [String: Any])?["transaction_id"] as? String)
    }

    // MARK: The server

    mutating func claim(_ member: String, refusedWith code: String? = nil) async throws {
        let (status, answer) = try await server(
            .post, "/v1/subscriptions/\(id)/seats", ["customer_id": member, "request_id": "invitation of \(member)"])
        guard code == nil else {
            #expect(status == 409 && answer["code"] as? String == code)
            return
        }
        #expect(status == 201, "\(answer)")
        members.append((member, try #require(answer["seat_id"] as? String)))
    }

    mutating func unclaim(_ member: String) async throws {
        let seat = try end(member)
        let (status, _) = try await server(.delete, "/v1/subscriptions/\(id)/seats/\(seat)", nil)
        #expect(status == 204)
    }

    mutating func unclaimByTheStore(_ member: String) async throws {
        try await control(
            "notifications",
            [
                "bundle_id": DeliveredWorld.bundleID, "type": "UNCLAIM_SEATS", "environment": "production",
                "seat_ids": [try end(member)],
            ])
    }

    private mutating func end(_ member: String) throws -> String {
        let place = try #require(members.firstIndex { $0.name == member })
        former.append(member)
        return members.remove(at: place).seat
    }

    /// Waits for the notifications, and compares the two sides.
    func compare(_ step: String, total: Int) async throws {
        let counts = try await control("notifications/deliver")
        #expect(counts["waiting"] as? Int == 0 && counts["failed"] as? Int == 0, "\(step): \(counts)")
        let truth = try await Self.send(world.store, .get, "/control/subscriptions/\(id)", nil).object
        let status = (truth["subscription"] as? [String: Any])?["status"] as? String
        let isUsable = status == "active" || status == "grace-period"
        let seats = try #require(truth["seats"] as? Int)
        #expect((isUsable ? seats : 0) == total, "\(step): the store has \(seats), \(status ?? "")")
        let page = try await server(.get, "/v1/subscriptions/\(id)/seats", nil).object
        #expect(page["total"] as? Int == total, "\(step): \(page)")
        #expect(page["claimed"] as? Int == members.count, "\(step)")
        let purchaser = try await entitlement(of: "ada")
        #expect(
            (purchaser?.state == .active) == isUsable && purchaser?.seats == (isUsable ? Int64(total) : nil), "\(step)")
        for (place, member) in members.enumerated() {
            let entitlement = try await entitlement(of: member.name)
            #expect((entitlement?.state == .active) == (place < total), "\(step): \(member.name)")
            if place < total { #expect(entitlement?.until == purchaser?.until, "\(step): \(member.name)") }
            if isUsable, place >= total { #expect(entitlement?.reason == .noSeat, "\(step): \(member.name)") }
        }
        for member in former { #expect(try await entitlement(of: member)?.reason == .seatUnclaimed, "\(step)") }
    }

    private func entitlement(of customer: String) async throws -> EntitlementMessage? {
        let answer = try await Self.answer(
            world.server, .get, "/v1/customers/\(customer)/entitlements", nil, world.backendKey)
        let list = try JSONDecoder().decode(EntitlementList.self, from: Data(answer.body.readableBytesView))
        return list.entitlements.first { $0.productID == "team" }
    }

    private func server(
        _ method: HTTPRequest.Method, _ path: String, _ body: [String: Any]?
    ) async throws -> (status: Int, object: [String: Any]) {
        try await Self.send(world.server, method, path, body, world.backendKey, accepts: { _ in true })
    }

    // MARK: HTTP

    private static func send(
        _ client: LiveClient, _ method: HTTPRequest.Method, _ path: String, _ body: [String: Any]?,
        _ key: String? = nil,
        accepts: (Int) -> Bool = { (200..<300).contains($0) }
    ) async throws -> (status: Int, object: [String: Any]) {
        let answer = try await answer(client, method, path, body, key)
        try #require(accepts(answer.status.code), "\(path): \(String(buffer: answer.body))")
        let data = Data(answer.body.readableBytesView)
        let object = data.isEmpty ? [:] : try JSONSerialization.jsonObject(with: data) as? [String: Any]
        return (answer.status.code, object ?? [:])
    }

    private static func answer(
        _ client: LiveClient, _ method: HTTPRequest.Method, _ path: String, _ body: [String: Any]?, _ key: String?
    ) async throws -> LiveResponse {
        var headers: HTTPFields = [.contentType: "application/json"]
        if let key { headers[.authorization] = "Bearer \(key)" }
        let bytes = try body.map { ByteBuffer(bytes: try JSONSerialization.data(withJSONObject: $0)) }
        return try await client.execute(uri: path, method: method, headers: headers, body: bytes)
    }
}
