import Crypto
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TestSupport
import Testing

/// A shop at Stripe, whose events a server gets.
struct StripeShop {
    static let secret = "whsec_test_secret_of_the_shop"
    static let next = "whsec_the_next_secret_of_it"
    static let others = "whsec_a_secret_of_another_app"
    static let (monthly, pro) = ("com.example.app.monthly", "com.example.app.pro")
    /// What access outlasts a period that renews.
    static let tolerance: Int64 = 3600

    let world: PurchaseServerWorld

    static func settings(_ configuration: inout ServerConfiguration) {
        configuration.apps["other"] = RegisteredApp(id: "other", bundleIDs: ["com.example.other"])
        configuration.stripe = [
            "example": StripeSettings(
                secrets: [secret, next],
                products: ["price_monthly": monthly, "price_pro": pro, "price_setup": nil]),
            "other": StripeSettings(secrets: [others]),
        ]
        configuration.apps["example"]?.sandboxAccess = .testers
    }

    var now: Int64 { world.clock.now.millisecondsSince1970 / 1000 }

    /// A time some days after the start of the test's clock, in seconds.
    static func day(_ day: Int64) -> Int64 { Int64(MintedWorld.moment.timeIntervalSince1970) + day * 86_400 }

    /// The state of a subscription.
    struct State {
        var id = "sub_1"
        var status = "active"
        var prices = ["price_monthly"]
        /// The day on which the period ends.
        var end: Int64 = 30
        var customer: String? = "alice"
        /// Where the version of the event has the end of the period.
        var hasEndsOfItems = true
        var more: [String: Any] = [:]

        var object: [String: Any] {
            let end = StripeShop.day(end)
            let items = prices.enumerated().map { number, price -> [String: Any] in
                var item: [String: Any] = ["id": "si_\(number)", "object": "subscription_item", "price": ["id": price]]
                if hasEndsOfItems { item["current_period_end"] = end }
                return item
            }
            var object: [String: Any] = [
                "id": id, "object": "subscription", "status": status, "cancel_at_period_end": false,
                "cancel_at": NSNull(), "metadata": customer.map { ["assay_customer": $0] } ?? [:],
                "items": ["object": "list", "has_more": false, "data": items] as [String: Any],
            ]
            if !hasEndsOfItems { object["current_period_end"] = end }
            return object.merging(more) { $1 }
        }
    }

    /// An event, created some seconds after the start of the test's clock.
    static func event(
        _ id: String, _ created: Int64, _ state: State = State(), type: String = "customer.subscription.updated",
        more: [String: Any] = [:]
    ) throws -> Data {
        let event: [String: Any] = [
            "id": id, "object": "event", "type": type, "api_version": "2025-03-31.basil", "created": day(0) + created,
            "livemode": true, "data": ["object": state.object],
        ]
        return try JSONSerialization.data(withJSONObject: event.merging(more) { $1 }, options: .sortedKeys)
    }

    static func code(_ body: Data, _ time: Int64, _ secret: String = secret) -> String {
        var code = HMAC<SHA256>(key: SymmetricKey(data: Data(secret.utf8)))
        code.update(data: Data("\(time).".utf8) + body)
        return code.finalize().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    func post(
        _ body: Data, signature: String?, to path: String = "/stripe/example"
    ) async throws -> PurchaseServerWorld.Answer {
        var headers: HTTPFields = [.contentType: "application/json"]
        if let signature { headers[try #require(HTTPField.Name("Stripe-Signature"))] = signature }
        return try await world.send(.post, path, data: body, as: nil, idempotencyKey: nil, headers: headers)
    }

    /// Sends an event as Stripe does.
    ///
    /// - Returns: the result; for a refusal, the status, the code and what was found.
    @discardableResult
    func send(_ body: Data) async throws -> String {
        let answer = try await post(body, signature: "t=\(now),v1=\(Self.code(body, now))")
        guard answer.status != 200 else { return try answer.message(StripeAnswer.self).result }
        let document = try #require(try answer.document)
        return "\(document.code)" + (answer.status == 422 ? ": \(document.found ?? "")" : "")
    }

    @discardableResult
    func tell(
        _ id: String, _ created: Int64, _ state: State = State(), type: String = "customer.subscription.updated",
        more: [String: Any] = [:]
    ) async throws -> String { try await send(try Self.event(id, created, state, type: type, more: more)) }

    var held: [String] {
        get async throws { try await world.ledger.answer(LedgerReadings()).heldStripeEvents.map(\.id) }
    }

    /// The grounds of a customer that were not ended: product, end in seconds after the start and environment.
    func grounds(of customer: String = "alice") async throws -> [String] {
        try await world.send(.get, "/v1/customers/\(customer)/grounds", as: .backend).message(GroundList.self).grounds
            .filter { $0.endedAt == nil }.map { ground in
                let end = ground.until.flatMap { Timestamp($0) }.map { $0.millisecondsSince1970 / 1000 } ?? -1
                return "\(ground.reference) \(end - Self.day(0)) \(ground.environment.rawValue)"
            }.sorted()
    }
}
