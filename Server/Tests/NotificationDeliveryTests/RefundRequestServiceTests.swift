import AppStoreConnection
import Foundation
import HTTPTypes
import NIOCore
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import ServerTestSupport
import Testing

/// Refund requests, extensions and refreshed subscriptions: the server asks and answers the simulated store over real
/// HTTP, as it asks Apple.
@Suite("29.3 The refund desk beside the store's truth")
struct RefundRequestServiceTests {
    @Test("29.3 Half of the coins used is what the store is told, once, after the consent and within its 12 hours")
    func half() async throws {
        try await Desk.run { desk in
            let coins = try await desk.buy("coins", quantity: 2)
            _ = try await desk.ask(
                .post, "/v1/customers/ada/consume",
                ["product_id": "coins", "quantity": 1, "consumption_id": "c1"])
            _ = try await desk.ask(.put, "/v1/customers/ada/consumption_consent", ["consented": true])
            try await desk.control("transactions/\(coins)/ask-for-refund")
            let sent = try await desk.request(of: coins, until: ["sent", "declined"])
            #expect(sent.state == "sent", "\(sent)")
            #expect(
                sent.answer?.consumptionPercentage == 50_000 && sent.answer?.quantity == 2 && sent.answer?.used == 1)
            let told = try #require(try await desk.consumption()[coins] as? [String: Any])
            #expect(told["percentage"] as? Int == 50_000 && told["delivery_status"] as? String == "DELIVERED")
            #expect(told["refund_preference"] as? String == "GRANT_PRORATED" && told["is_consented"] as? Bool == true)
            // The store decides, and the request says so.
            try await desk.control("transactions/\(coins)/decline-refund")
            let closed = try await desk.request(of: coins, until: ["sent"]) { $0.closedBy != nil }
            #expect(closed.closedBy == "REFUND_DECLINED")
        }
    }

    @Test("29.3 A simulated month of refunds: what the store is told is what was used, and it decides by that")
    func month() async throws {
        try await Desk.run { desk in
            let odds = ["decline": 0, "grant_full": 100, "grant_prorated": 100, "no_preference": 0, "no_answer": 100]
            try await desk.control("refund-odds", ["odds": odds])
            var bought: [(id: String, quantity: Int, used: Int, consents: Bool)] = []
            for day in 0..<10 {
                for part in 0..<3 {
                    let number = day * 3 + part
                    let (quantity, customer) = (1 + number % 4, "customer-\(number)")
                    let used = (number / 2) % (quantity + 1)
                    try await desk.control("customers", ["customer_id": customer, "environment": "production"])
                    let token = UUID().uuidString.lowercased()
                    _ = try await desk.ask(
                        .put, "/v1/customers/\(customer)/app_account_token", ["app_account_token": token])
                    let id = try await desk.buy("coins", quantity: quantity, by: customer, token)
                    if used > 0 {
                        _ = try await desk.ask(
                            .post, "/v1/customers/\(customer)/consume",
                            ["product_id": "coins", "quantity": used, "consumption_id": "c\(number)"])
                    }
                    let consents = part != 2
                    if consents {
                        _ = try await desk.ask(
                            .put, "/v1/customers/\(customer)/consumption_consent", ["consented": true])
                    }
                    try await desk.control("transactions/\(id)/ask-for-refund")
                    bought.append((id, quantity, used, consents))
                }
                for purchase in bought.suffix(3) where purchase.consents {
                    _ = try await desk.request(of: purchase.id, until: ["sent"])
                }
                // Twelve hours later the store decides, and three days later the next ones ask.
                try await desk.control("clock", ["advance": "P3D"])
                for purchase in bought.suffix(3) {
                    _ = try await desk.request(of: purchase.id, until: ["sent", "closed", "expired"]) {
                        $0.closedBy != nil
                    }
                }
            }
            let told = try await desk.consumption()
            #expect(told.count == 20, "one for each consent")
            for purchase in bought {
                let request = try await desk.request(of: purchase.id, until: ["sent", "closed", "expired"])
                guard purchase.consents else {
                    #expect(request.answer == nil && told[purchase.id] == nil)
                    #expect(request.closedBy == "REFUND", "without an answer the store refunds, by its odds")
                    continue
                }
                let said = try #require(told[purchase.id] as? [String: Any])
                let share = (Double(purchase.used) / Double(purchase.quantity) * 100_000).rounded()
                #expect(said["percentage"] as? Int == Int(share), "\(purchase)")
                let preference =
                    purchase.used == 0
                    ? "GRANT_FULL" : purchase.used == purchase.quantity ? "DECLINE" : "GRANT_PRORATED"
                #expect(said["refund_preference"] as? String == preference, "\(purchase)")
                #expect(request.closedBy == (preference == "DECLINE" ? "REFUND_DECLINED" : "REFUND"), "\(purchase)")
            }
        }
    }

    @Test("29.3 Without the consent the store is told nothing, and the request expires after 12 hours")
    func silence() async throws {
        try await Desk.run { desk in
            let coins = try await desk.buy("coins", quantity: 1)
            try await desk.control("transactions/\(coins)/ask-for-refund")
            _ = try await desk.request(of: coins, until: ["open"])
            try await desk.control("clock", ["advance": "P1D"])
            let expired = try await desk.request(of: coins, until: ["expired"])
            #expect(expired.answer == nil)
            #expect(try await desk.consumption().isEmpty)
        }
    }

    @Test("29.3 An extension is asked for at once; access follows the signed news; a third one in a year is refused")
    func extended() async throws {
        try await Desk.run { desk in
            let gold = try await desk.buy("gold", quantity: 1)
            let before = try #require(try await desk.until())
            let body: [String: Any] = ["days": 7, "extension_reason": "service_issue", "reason": "an outage"]
            for (number, state) in [(1, "extended"), (2, "extended"), (3, "refused")] {
                let id = "e\(number)"
                func ask() async throws -> [String: Any] {
                    try await desk.ask(
                        .post, "/v1/subscriptions/\(gold)/extensions", body.merging(["request_id": id]) { $1 },
                        as: desk.admin)
                }
                var answer = try await ask()
                // The server's own task can be asking for it already; the same request then tells what came of it.
                for _ in 0..<6000 {
                    guard answer["state"] as? String == "open" else { break }
                    try await Task.sleep(for: .milliseconds(50))
                    answer = try await ask()
                }
                #expect(answer["state"] as? String == state, "\(answer)")
                #expect((answer["app_store_number"] == nil) == (state == "extended"))
            }
            // The notifications are there, or Apple is asked.
            var refreshed: [String: Any] = [:]
            // Under load an answer can take longer than the five seconds that a request waits.
            for _ in 0..<20 where refreshed["refresh"] as? String != "answered" {
                refreshed = try await desk.ask(.get, "/v1/customers/ada/subscriptions?refresh=true", nil)
            }
            #expect(refreshed["refresh"] as? String == "answered", "\(refreshed)")
            let after = try #require(try await desk.until())
            let seconds = try Date(after, strategy: .iso8601).timeIntervalSince(Date(before, strategy: .iso8601))
            #expect(seconds == 14 * 86_400)
            let plain = try await desk.ask(.get, "/v1/customers/ada/subscriptions", nil)
            #expect(plain["refresh"] == nil)
            let none = try await desk.ask(.get, "/v1/customers/bob/subscriptions?refresh=true", nil)
            #expect(none["refresh"] as? String == "no_subscription")
        }
    }
}

/// A client of the store and the server.
struct Desk: Sendable {
    let store: LiveClient
    var server: LiveClient?
    var ledger: PurchaseLedger?
    var backend = ""
    var admin = ""

    static let token = "6f1b5b5e-3c1e-4c0f-9f0a-0d7f4c1e2a3b"

    /// A store with two products and a customer, and a server, usually with a key of its Server API.
    static func run(
        hasKey: Bool = true,
        _ body: @escaping @Sendable (Desk) async throws -> Void
    ) async throws {
        try await DeliveredWorld.run(
            { configuration, store in
                let desk = Desk(store: store)
                try await desk.control("apps", ["bundle_id": DeliveredWorld.bundleID])
                try await desk.control(
                    "products", ["bundle_id": DeliveredWorld.bundleID, "product_id": "coins", "kind": "consumable"])
                try await desk.control(
                    "products",
                    [
                        "bundle_id": DeliveredWorld.bundleID, "product_id": "gold", "kind": "auto-renewable",
                        "subscription": ["group_id": "club", "period": "P1M"],
                    ])
                try await desk.control("customers", ["customer_id": "ada", "environment": "production"])
                if hasKey { configuration.appStoreKeys = ["example": [try await desk.key()]] }
                configuration.apps["example"]?.hasAppStoreKey = hasKey
                let address = "http://127.0.0.1:\(store.port)"
                configuration.appStore.serverAPIProduction = address
                configuration.appStore.serverAPISandbox = "\(address)/sandbox"
                var policy = RefundPolicy()
                (policy.unused, policy.partlyUsed, policy.used) = (.grantFull, .grantProrated, .decline)
                configuration.apps["example"]?.refunds.products["coins"] = policy
            },
            { world in
                var desk = Desk(store: world.store)
                desk.server = world.server
                desk.ledger = world.ledger
                desk.backend = world.backendKey
                desk.admin = try await world.ledger.perform(CreateAPIKey(app: "example", name: "a", scopes: [.admin]))
                    .text
                _ = try await desk.ask(
                    .put, "/v1/customers/ada/app_account_token", ["app_account_token": token])
                try await body(desk)
            })
    }

    /// A new key of the store.
    func key() async throws -> AppStoreServerKey {
        let key = try await control("api-keys", ["bundle_id": DeliveredWorld.bundleID])
        return try AppStoreServerKey(
            issuerID: try #require(key["issuer_id"] as? String), keyID: try #require(key["key_id"] as? String),
            privateKey: try #require(key["private_key"] as? String))
    }

    @discardableResult
    func control(_ path: String, _ body: [String: Any] = [:]) async throws -> [String: Any] {
        try await Self.send(store, .post, "/control/\(path)", body, nil)
    }

    /// What the store was told of the consumption of each transaction.
    func consumption() async throws -> [String: Any] {
        try await Self.send(store, .get, "/control/consumption", nil, nil)
    }

    /// Buys a product for a customer whose token the server knows.
    ///
    /// - Returns: the transaction.
    func buy(
        _ product: String, quantity: Int, by customer: String = "ada",
        _ token: String = Desk.token
    ) async throws -> String {
        let bought = try await control(
            "purchases",
            [
                "bundle_id": DeliveredWorld.bundleID, "product_id": product, "customer_id": customer,
                "quantity": quantity, "app_account_token": token,
            ])
        let id = try #require((bought["transaction"] as? [String: Any])?["transaction_id"] as? String)
        // The purchase reaches the server by the store's notification.
        try await wait { try await entitlement(product, of: customer) != nil }
        return id
    }

    private func entitlement(_ product: String, of customer: String = "ada") async throws -> [String: Any]? {
        let answer = try await ask(.get, "/v1/customers/\(customer)/entitlements", nil)
        return (answer["entitlements"] as? [[String: Any]])?.first { $0["product_id"] as? String == product }
    }

    /// The end of the subscription.
    func until() async throws -> String? { try await entitlement("gold")?["until"] as? String }

    /// The newest refund request of a transaction, once it is in one of some states.
    func request(
        of transaction: String, until states: Set<String>,
        _ isWanted: (RefundRequestMessage) -> Bool = { _ in true }
    ) async throws -> RefundRequestMessage {
        var found: RefundRequestMessage?
        try await wait {
            let answer = try await ask(.get, "/v1/refund_requests", nil)
            let data = try JSONSerialization.data(withJSONObject: answer)
            found = try JSONDecoder().decode(RefundRequestPage.self, from: data).refundRequests
                .first { $0.transactionID == transaction }
            return found.map { states.contains($0.state) && isWanted($0) } ?? false
        }
        return try #require(found)
    }

    /// Waits for something that another process or task does.
    func wait(_ condition: () async throws -> Bool) async throws {
        while try await !condition() { try await Task.sleep(for: .milliseconds(50)) }
    }

    func ask(
        _ method: HTTPRequest.Method, _ path: String, _ body: [String: Any]?, as key: String? = nil
    ) async throws -> [String: Any] {
        try await Self.send(try #require(server), method, path, body, key ?? backend)
    }

    static func send(
        _ client: LiveClient, _ method: HTTPRequest.Method, _ path: String, _ body: [String: Any]?, _ key: String?
    ) async throws -> [String: Any] {
        var headers: HTTPFields = [.contentType: "application/json"]
        if let key { headers[.authorization] = "Bearer \(key)" }
        if let name = HTTPField.Name("Idempotency-Key") { headers[name] = UUID().uuidString }
        let bytes = try body.map { ByteBuffer(bytes: try JSONSerialization.data(withJSONObject: $0)) }
        let answer = try await client.execute(uri: path, method: method, headers: headers, body: bytes)
        try #require((200..<300).contains(answer.status.code), "\(path): \(String(buffer: answer.body))")
        let data = Data(answer.body.readableBytesView)
        return data.isEmpty ? [:] : try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
    }
}
