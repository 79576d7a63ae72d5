import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

/// `POST /stripe/{app}`: the door for the events of an outside shop.
@Suite("55.6 Events of Stripe", .server(StripeShop.settings))
struct StripeRouteTests {
    let shop = StripeShop(world: CurrentWorld.opened())
    private typealias State = StripeShop.State

    private static func ground(
        _ end: Int64, _ product: String = StripeShop.monthly, of subscription: String = "sub_1", late: Int64 = 3600,
        _ environment: String = "Production"
    ) -> String { "\(subscription)/\(product) \(end * 86_400 + late) \(environment)" }

    @Test("A subscription gives its products until its end, renews, changes its plan, is shortened, and ends")
    func life() async throws {
        let steps: [(state: State, grounds: [String])] = [
            (State(status: "incomplete"), []), (State(), [Self.ground(30)]),
            (State(hasEndsOfItems: false), [Self.ground(30)]),
            (State(end: 60, hasEndsOfItems: false), [Self.ground(60)]),
            (State(end: 20, more: ["cancel_at_period_end": true]), [Self.ground(20, late: 0)]),
            (State(end: 60, more: ["cancel_at": StripeShop.day(50)]), [Self.ground(50, late: 0)]),
            (State(end: 60, more: ["cancel_at": StripeShop.day(70)]), [Self.ground(60)]),
            (State(prices: ["price_pro", "price_setup"], end: 60), [Self.ground(60, StripeShop.pro)]),
            (State(prices: ["price_setup"], customer: nil), []),
            (State(prices: ["price_monthly", "price_pro"]), [Self.ground(30), Self.ground(30, StripeShop.pro)]),
            (State(status: "past_due"), []), (State(status: "trialing"), [Self.ground(30)]),
            (State(status: "unpaid", customer: nil), []), (State(), [Self.ground(30)]),
            (State(status: "paused", prices: ["price_x"]), []), (State(end: -1), []), (State(), [Self.ground(30)]),
        ]
        for (number, step) in steps.enumerated() {
            #expect(try await shop.tell("evt_\(number)", Int64(number), step.state) == "recorded", "\(number)")
            #expect(try await shop.grounds() == step.grounds, "\(number): \(step.state)")
        }
        let active = try await shop.world.entitlements(of: "alice").first { $0.state == .active }
        #expect(active?.productID == StripeShop.monthly && active?.sources == ["stripe"])
        let type = "customer.subscription.deleted"
        #expect(try await shop.tell("evt_99", 100, State(customer: nil), type: type) == "recorded")
        #expect(try await shop.world.entitlements(of: "alice").allSatisfy { $0.state == .expired })
    }

    @Test("Every order of the same events, each repeated, ends with the same state, also within one second")
    func shuffled() async throws {
        let sets: [(events: [(created: Int64, state: State)], end: Int64?)] = [
            (
                [
                    (0, State(status: "incomplete")), (0, State()), (5, State(prices: ["price_pro"], end: 31)),
                    (5, State(end: 60)),
                ], 60
            ),
            ([(0, State()), (9, State(status: "past_due")), (9, State(end: 60)), (9, State(status: "canceled"))], nil),
            ([(0, State()), (9, State(end: 60)), (9, State(status: "past_due")), (9, State(end: 61))], nil),
            (
                [
                    (0, State()), (9, State(prices: ["price_x"], end: 60)), (9, State(prices: ["price_pro"], end: 60)),
                    (9, State(end: 60)),
                ], 60
            ),
            ([(0, State()), (1, State(end: 60)), (2, State(prices: ["price_x"], end: 90)), (3, State(end: 20))], 20),
        ]
        for (set, (events, end)) in sets.enumerated() {
            let orders = Self.permutations(Array(events.indices))
            #expect(orders.count == 24)
            for (order, numbers) in orders.enumerated() {
                let name = "\(set)_\(order)"
                for number in numbers.flatMap({ [$0, $0] }) + numbers {
                    var state = events[number].state
                    (state.id, state.customer) = ("sub_\(name)", name)
                    try await shop.tell("evt_\(name)_\(number)", events[number].created, state)
                }
                let expected = end.map { [Self.ground($0, of: "sub_\(name)")] } ?? []
                #expect(try await shop.grounds(of: name) == expected, "set \(set), order \(numbers)")
            }
        }
        #expect(try await shop.held.isEmpty)
    }

    @Test("Events that arrive at the same time, each twice, end with the state of the newest")
    func atOnce() async throws {
        let names = (0..<8).map { "race_\($0)" }
        let states = [
            (0, State()), (5, State(prices: ["price_pro"], end: 31)), (9, State(end: 60)),
            (9, State(status: "incomplete")),
        ]
        let bodies = try names.flatMap { name in
            try states.enumerated().map { number, event in
                var state = event.1
                (state.id, state.customer) = ("sub_\(name)", name)
                return try StripeShop.event("evt_\(name)_\(number)", Int64(event.0), state)
            }
        }
        let shop = shop
        let results = try await withThrowingTaskGroup(of: String.self) { group in
            for body in bodies + bodies { group.addTask { try await shop.send(body) } }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(results["repeated"] == bodies.count && results.count <= 3, "\(results)")
        for name in names { #expect(try await shop.grounds(of: name) == [Self.ground(60, of: "sub_\(name)")]) }
    }

    private static func permutations(_ items: [Int]) -> [[Int]] {
        guard items.count > 1 else { return [items] }
        return items.flatMap { first in permutations(items.filter { $0 != first }).map { [first] + $0 } }
    }

    @Test("What is not signed by a secret of the app, now, is refused, and nothing is written")
    func forged() async throws {
        let (body, now, invalid) = (try StripeShop.event("evt_1", 0), shop.now, "400 stripe_signature_invalid")
        let right = StripeShop.code(body, now)
        func signed(_ time: Int64, _ secret: String = StripeShop.secret) -> String {
            "t=\(time),v1=\(StripeShop.code(body, time, secret))"
        }
        let wrong = (0..<100).map { "v1=" + StripeShop.code(Data("\($0)".utf8), now) }.joined(separator: ",")
        let forgeries: [String?] = [
            nil, "", "t=\(now)", "v1=\(right)", "t=\(now),v0=\(right)", "t=\(now),v1=\(right.dropLast())",
            "t=x,v1=\(right)", "t=\(now + 1),v1=\(right)", "t=\(now),t=\(now),v1=\(right)", "t=\(now),\(wrong)",
            "t=\(now),v1=\(right)00", "t=\(Int64.max),v1=\(right)", "t=-\(now),v1=\(right)", signed(now - 301),
            signed(now + 301), signed(now, "whsec_guessed"), signed(now, StripeShop.others), signed(now, ""),
        ]
        for signature in forgeries {
            #expect(try await shop.post(body, signature: signature).line == invalid, "\(signature ?? "none")")
        }
        for place in body.indices {
            var changed = body
            changed[place] ^= 1
            #expect(try await shop.post(changed, signature: signed(now)).line == invalid, "\(place)")
        }
        #expect(try await shop.post(body.dropLast(), signature: signed(now)).line == invalid)
        #expect(try await shop.post(body, signature: signed(now), to: "/stripe/other").line == invalid)
        let none = try await shop.post(body, signature: signed(now), to: "/stripe/none")
        #expect(try none.line == "404 stripe_not_configured")
        #expect(try await shop.world.send(.get, "/stripe/example", as: nil, idempotencyKey: nil).status == 405)
        #expect(try await shop.send(Data(repeating: 0x20, count: 257 << 10)) == "body_too_large")
        #expect(try await shop.world.send(.get, "/v1/events", as: .backend).message(EventPage.self).events.isEmpty)
        let genuine = [
            "t=\(now),\(wrong),v1=\(right)", "v1=\(right.uppercased()),t=\(now)", signed(now - 300), signed(now + 300),
            signed(now, StripeShop.next),
        ]
        for (number, signature) in genuine.enumerated() {
            let result = try await shop.post(body, signature: signature).message(StripeAnswer.self).result
            #expect(result == (number == 0 ? "recorded" : "repeated"), "\(signature)")
        }
    }

    @Test("Other types and accounts, a repeated id and what a link can carry change nothing; wrong content is refused")
    func ignored() async throws {
        let link: [String: Any] = ["id": "cs_1", "client_reference_id": "bob", "metadata": ["assay_customer": "bob"]]
        for type in ["checkout.session.completed", "invoice.paid", "charge.refunded", "customer.subscription.x"] {
            #expect(try await shop.tell("evt_\(type)", 0, type: type, more: ["data": ["object": link]]) == "ignored")
        }
        for name in ["account", "context"] {
            #expect(try await shop.tell("evt_0", 0, more: [name: "acct_1"]) == "ignored")
        }
        let linked = State(customer: nil, more: ["client_reference_id": "bob", "customer": "bob"])
        #expect(try await shop.tell("evt_1", 0, linked) == "stripe_event_held: metadata.assay_customer")
        for text in ["", "[]", "{}", "null", #"{"id":"evt_1","type":"customer.subscription.updated"}"#] {
            #expect(try await shop.send(Data(text.utf8)) == "field_malformed", "\(text)")
        }
        let wrong: [[String: Any]] = [["created": Int64.max], ["created": -1], ["id": "evt/1"], ["livemode": "yes"]]
        for more in wrong { #expect(try await shop.tell("evt_2", 0, more: more) == "field_malformed", "\(more)") }
        #expect(try await shop.tell("evt_3", 0, State(id: "sub/1")) == "field_malformed")
        #expect(try await shop.tell("evt_4", 1) == "recorded")
        for state in [State(id: "sub_2"), State(end: 90), State(customer: "bob"), State(status: "canceled")] {
            #expect(try await shop.tell("evt_4", 50, state) == "repeated")
        }
        #expect(try await shop.grounds() == [Self.ground(30)])
        #expect(try await shop.grounds(of: "bob").isEmpty)
    }

    @Test(
        "An unknown price, customer or status holds an event, which is shown, and applied once nothing is missing",
        .server {
            StripeShop.settings(&$0)
            $0.admin = .port(host: "127.0.0.1", 0)
        })
    func held() async throws {
        #expect(try await shop.tell("evt_0", 0) == "recorded")
        let item: [String: Any] = ["price": ["id": "price_pro"], "current_period_end": StripeShop.day(9)]
        let cut: [String: Any] = ["has_more": true, "data": [item]]
        let states: [(state: State, missing: String)] = [
            (State(prices: ["price_pro", "price_x"], customer: nil), "a product for price_x, metadata.assay_customer"),
            (State(customer: nil), "metadata.assay_customer"), (State(customer: " "), "metadata.assay_customer"),
            (State(status: "frozen"), "a version of Assay that knows the status frozen"),
            (State(more: ["items": cut]), "a subscription whose items fit into an event"),
        ]
        for (number, held) in states.enumerated() {
            for _ in 1...2 {
                let result = try await shop.tell("evt_\(number + 1)", Int64(number + 1), held.state)
                #expect(result == "stripe_event_held: \(held.missing)")
            }
        }
        #expect(try await shop.grounds() == [Self.ground(30)])
        #expect(try await shop.held == ["evt_5", "evt_4", "evt_3", "evt_2", "evt_1"])
        var browser = try await ConsoleBrowser.signedIn(shop.world, "ann", .view)
        let page = ConsoleBrowser.words(try await browser.get("/console/state").text)
        #expect(page.contains("evt_2 of sub_1 in example waits for metadata.assay_customer"), "\(page)")
        // The server of the shop names the customer, and Stripe sends the same event again.
        #expect(try await shop.tell("evt_2", 2, State(end: 40)) == "recorded")
        #expect(try await shop.grounds() == [Self.ground(40)])
        #expect(try await shop.held == ["evt_5", "evt_4", "evt_3"])
        #expect(try await shop.tell("evt_1", 1) == "repeated")
        #expect(try await shop.tell("evt_6", 6, State(end: 50)) == "recorded")
        #expect(try await shop.held.isEmpty)
        #expect(try await shop.tell("evt_7", 1, State(customer: nil)) == "superseded")
    }

    @Test("Grounds follow a merge and another customer in the metadata; an erasure stays; the test mode is Sandbox")
    func customers() async throws {
        let world = shop.world
        #expect(try await shop.tell("evt_1", 1) == "recorded")
        _ = try await world.ledger.perform(MergeCustomers(app: "example", customerID: "alice", into: "bob"))
        #expect(try await shop.tell("evt_2", 2, State(end: 60)) == "recorded")
        #expect(try await shop.grounds(of: "bob") == [Self.ground(60)])
        #expect(try await shop.tell("evt_3", 3, State(end: 60, customer: "carol")) == "recorded")
        #expect(try await shop.grounds(of: "bob").isEmpty)
        #expect(try await shop.grounds(of: "carol") == [Self.ground(60)])
        _ = try await world.ledger.perform(EraseCustomer(app: "example", customerID: "carol", reason: "asked"))
        #expect(try await shop.tell("evt_3", 3, State(end: 60, customer: "carol")) == "repeated")
        #expect(try await shop.tell("evt_0", 0, State(customer: "carol")) == "superseded")
        #expect(try await shop.grounds(of: "carol").isEmpty)
        // The subscription goes on, so the shop's server names somebody who is new to the ledger.
        #expect(try await shop.tell("evt_4", 4, State(end: 90, customer: "carol")) == "recorded")
        #expect(try await shop.grounds(of: "carol") == [Self.ground(90)])
        let test = State(id: "sub_2", customer: "dora")
        #expect(try await shop.tell("evt_5", 5, test, more: ["livemode": false]) == "recorded")
        #expect(try await shop.grounds(of: "dora") == [Self.ground(30, of: "sub_2", "Sandbox")])
        #expect(try await world.entitlements(of: "dora").map(\.reason) == [.sandboxNotAccepted])
    }

    @Test("The settings name a file of secrets, and products that are no consumables")
    func settings() throws {
        func text(_ stripe: String) -> String {
            "apps:\n  game:\n    bundle_ids: a.b\n    products: { pro: { kind: non_consumable }, coins: { kind: consumable } }\n"
                + "    grounds: { stripe: { \(stripe) } }\n"
        }
        let secret = "whsec_0123456789abcdefghij"
        let read = try WrittenSettings.read(text("secret_file: '\(secret) \(secret)', products: { a: pro, b: null }"))
        #expect(read.stripe["game"]?.secrets == [secret, secret])
        #expect(read.stripe["game"]?.products == ["a": "pro", "b": nil])
        for (stripe, fault) in [
            ("secret_file: secret", "secret_file has no signing secrets of Stripe"),
            ("secret_file: '\(secret)', products: { a: coins }", "names 'coins', which is a consumable"),
            (
                "secret_file: '\(secret)', products: { a: gold }",
                "names 'gold', which is a consumable or not in products"
            ),
            ("products: { a: pro }", "products has no secret to verify the events with"),
        ] {
            let problems = try WrittenSettings.problems(text(stripe))
            #expect(problems.count == 1 && problems[0].fault.contains(fault), "\(problems)")
            #expect(!problems[0].description.contains(secret))
        }
    }
}
