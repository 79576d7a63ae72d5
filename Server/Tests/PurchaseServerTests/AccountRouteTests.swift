import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import ServerTestSupport
import TestSupport
import Testing

/// What apps may read of their customers: the whole account in the answer to a claim or a restore, and
/// `GET /v1/me/entitlements`.
@Suite("Accounts of apps")
struct AccountRouteTests {
    private static let (monthly, pro) = ("com.example.app.monthly", "com.example.app.pro")
    private static let path = "/v1/me/entitlements"

    private static func guest(_ number: Int) -> String { "guest-00000000-0000-4000-8000-00000000000\(number)" }

    private static func me(
        _ customer: String?, _ world: PurchaseServerWorld, as scope: APIKeyScope = .client, at path: String = path
    ) async throws -> PurchaseServerWorld.Answer {
        var headers = HTTPFields()
        headers[try #require(HTTPField.Name(EntitlementList.customerHeader))] = customer
        return try await world.send(.get, path, as: scope, headers: headers)
    }

    private static func signed(
        _ id: String, _ world: PurchaseServerWorld, download: String? = nil
    ) throws -> PurchaseServerWorld.SignedPurchase {
        try PurchaseServerWorld.signed(id, product: pro) {
            ($0.type, $0.appTransactionID) = (.nonConsumable, download)
        }
    }

    private static func buy(
        _ id: String, for customer: String, guest: Bool? = nil, account: Bool? = true, _ world: PurchaseServerWorld
    ) async throws -> PurchaseAnswer {
        var claim = try signed(id, world).claim(customerID: customer)
        (claim.guest, claim.account) = (guest, account)
        let answer = try await world.send(.post, "/v1/purchases", claim, as: .client)
        #expect(answer.status == 200, "\(answer.text)")
        return try answer.message(PurchaseAnswer.self)
    }

    private static func restore(
        _ id: String, for customer: String, guest: Bool? = nil, account: Bool? = true, _ world: PurchaseServerWorld
    ) async throws -> RestoreAnswer {
        let request = RestoreRequest(
            customerID: customer, signedTransactions: [try signed(id, world).jws], guest: guest, account: account)
        return try await world.send(.post, "/v1/restores", request, as: .client).message(RestoreAnswer.self)
    }

    @Test("A customer token reads the whole account for an hour, with one app; anything else is 401 with both facts")
    func tokens() async throws {
        try await PurchaseServerWorld.run {
            $0.answerSigner = AnswerSigner()
            $0.apps["other"] = RegisteredApp(id: "other", bundleIDs: ["com.example.other"])
        } _: { world async throws in
            _ = try await Self.buy("1", for: "alice", world)
            let route = "/v1/customers/alice/tokens"
            #expect(try await world.send(.post, route, as: .client).problem == "scope_insufficient")
            let issued = try await world.send(.post, route, as: .backend)
            #expect(issued.status == 201, "\(issued.text)")
            let token = try issued.message(CustomerTokenMessage.self)
            let list = try await Self.me(token.token, world).message(EntitlementList.self)
            #expect(list.customerID == "alice")
            #expect(list.entitlements.map(\.productID) == [Self.pro] && list.named.map(\.state) == [.active])
            let whole = try await world.send(.get, "/v1/customers/alice/entitlements", as: .backend)
            #expect(try whole.message(EntitlementList.self) == list)

            let offers = try await Self.me(token.token, world, at: "/v1/me/offers")
            let told = try await world.send(.get, "/v1/customers/alice/offers", as: .backend)
            #expect(try offers.message(CustomerOffers.self).offers.isEmpty == false && offers.text == told.text)
            #expect(try await Self.me("alice", world, at: "/v1/me/offers").problem == "customer_token_invalid")
            let stranger = try await Self.me(Self.guest(1), world, at: "/v1/me/offers").message(CustomerOffers.self)
            #expect(stranger == CustomerOffers(customerID: Self.guest(1), mergedInto: nil, offers: []))

            let other = try await world.ledger.perform(
                CreateAPIKey(app: "other", name: "other", scopes: [.backend])
            ).text
            let elsewhere = try await world.send(
                .post, route, as: nil, headers: [.authorization: "Bearer \(other)"]
            ).message(CustomerTokenMessage.self)
            let parts = token.token.split(separator: ".").map(String.init)
            let otherParts = elsewhere.token.split(separator: ".").map(String.init)
            let wrong: [String?] = [
                nil, "", "alice", "guest-1", "assay-customer-1", "assay-customer-1..", token.token + "x",
                "assay-customer-2.\(parts[1]).\(parts[2])", "\(parts[0]).\(otherParts[1]).\(parts[2])",
                "\(parts[0]).\(parts[1]).\(otherParts[2])", "\(parts[0]).\(parts[1]).", "\(parts[0]).\(parts[1])",
                elsewhere.token, Self.guest(1).uppercased(), String(repeating: "a", count: 3000),
            ]
            for value in wrong {
                let refused = try await Self.me(value, world)
                let document = try #require(try refused.document)
                #expect(refused.status == 401 && document.code == "customer_token_invalid", "\(value ?? "none")")
                #expect(document.expected != nil && document.found != nil, "\(value ?? "none")")
            }
            world.clock.advance(seconds: 3599)
            #expect(try await Self.me(token.token, world).status == 200)
            world.clock.advance(seconds: 1)
            let answer = try await Self.me(token.token, world)
            let ended = try #require(try answer.document, "\(answer.status): \(answer.text)")
            #expect(ended.status == 401 && ended.code == "customer_token_expired")
            #expect(ended.expected == "a time before \(token.expiresAt)" && ended.found == token.expiresAt)
        }
    }

    @Test("Without a key for answers there are no tokens, and the code says so")
    func withoutKey() async throws {
        try await PurchaseServerWorld.run { world async throws in
            let answer = try await world.send(.post, "/v1/customers/alice/tokens", as: .backend)
            #expect(answer.status == 409)
            #expect(try answer.problem == "answer_key_missing")
            let signer = AnswerSigner()
            #expect(try await Self.me("assay-customer-1.e30=.\(signer.keyID)", world).status == 401)
        }
    }

    @Test("A guest reads their account by their id, until a merge; who is unknown looks alike")
    func guests() async throws {
        try await PurchaseServerWorld.run { world async throws in
            _ = try await Self.buy("1", for: Self.guest(1), guest: true, world)
            _ = try await Self.buy("2", for: Self.guest(2), world)
            let marked = try await Self.me(Self.guest(1), world).message(EntitlementList.self)
            #expect(marked.customerID == Self.guest(1) && marked.named.map(\.state) == [.active])
            func requireNothing(_ number: Int) async throws {
                let answer = try await Self.me(Self.guest(number), world)
                #expect(answer.status == 200)
                let nothing = EntitlementList(customerID: Self.guest(number), entitlements: [], named: [])
                #expect(try answer.message(EntitlementList.self) == nothing)
            }
            try await requireNothing(3)
            // The mark ends when a backend knows the customer; the id stays a secret of the device.
            let order = OrderRequest(customerID: Self.guest(1), productID: Self.pro)
            #expect(try await world.send(.post, "/v1/orders", order, as: .backend).status == 201)
            _ = try await Self.buy("1", for: Self.guest(1), guest: true, world)
            #expect(
                try await Self.me(Self.guest(1), world).message(EntitlementList.self).named.map(\.state) == [.active])
            _ = try await world.ledger.perform(
                MergeCustomers(app: "example", customerID: Self.guest(1), into: Self.guest(2), reason: "signed in"))
            try await requireNothing(1)
        }
    }

    @Test("The whole account is answered to who asks, and owns what the evidence proves or is a marked guest")
    func accounts() async throws {
        try await PurchaseServerWorld.run { world async throws in
            let first = try await Self.buy("1", for: "alice", world)
            #expect(first.account?.customerID == "alice" && first.account?.named.map(\.name) == ["pro"])
            #expect(try await Self.buy("1", for: "alice", account: nil, world).account == nil)
            #expect(try await Self.buy("1", for: "alice", account: false, world).account == nil)
            _ = try await Self.buy("2", for: "bob", world)
            #expect(try await Self.restore("1", for: "alice", world).account == first.account)
            #expect(try await Self.restore("1", for: "alice", account: nil, world).account == nil)
            // Another customer's evidence: nobody hears anything, whether they are known or not.
            for (customer, guest) in [("bob", nil), ("carol", nil), ("bob", true), ("dora", true)] as [(String, Bool?)]
            {
                let refused = try await Self.restore("1", for: customer, guest: guest, world)
                #expect(refused.purchases.map(\.code) == ["already_claimed"] && refused.account == nil, "\(customer)")
                #expect(refused.entitlements.isEmpty && refused.mergedInto == nil, "\(customer)")
                let before = try await Self.restore("1", for: customer, guest: guest, world)
                #expect(before.account == nil && before.refused == refused.refused)
            }
            // A guest's id is a secret, so their account is theirs whatever the evidence is.
            for _ in 0..<2 {
                let guest = try await Self.restore("1", for: Self.guest(1), guest: true, world)
                #expect(guest.purchases.map(\.code) == ["already_claimed"])
                #expect(guest.account == EntitlementList(customerID: Self.guest(1), entitlements: [], named: []))
            }
            #expect(try await Self.restore("1", for: Self.guest(1), world).account == nil)
            #expect(try await Self.restore("1", for: Self.guest(2), world).account == nil)
            #expect(try await Self.restore("1", for: Self.guest(2), guest: true, world).account?.named == [])
        }
    }

    @Test("A new phone of a guest gets what they paid for when they tap on Restore, and both are told")
    func newPhone() async throws {
        var app = PurchaseServerWorld.app
        app.guestRestore = .move
        try await PurchaseServerWorld.run { [app] in
            $0.apps = ["example": app]
        } _: { world async throws in
            let bought = try Self.signed("1", world, download: "7")
            var claim = bought.claim(customerID: Self.guest(1))
            claim.guest = true
            #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
            var template = AppTransactionTemplate(
                bundleID: "com.example.app",
                creationDate: Date(timeIntervalSince1970: Double(world.clock.now.millisecondsSince1970) / 1000),
                environment: "Production")
            template.appTransactionID = "7"
            let proof = String(decoding: try MintedWorld.mint(template), as: UTF8.self)
            for (requested, appTransaction, code) in [
                (nil, proof, "already_claimed"), (false, proof, "already_claimed"), (true, nil, "already_claimed"),
                (true, bought.jws, "already_claimed"), (true, proof, "accepted"),
            ] as [(Bool?, String?, String)] {
                let request = RestoreRequest(
                    customerID: Self.guest(2), signedTransactions: [bought.jws], appTransaction: appTransaction,
                    requested: requested, guest: true, account: true)
                let answer = try await world.send(.post, "/v1/restores", request, as: .client)
                    .message(RestoreAnswer.self)
                #expect(answer.purchases.map(\.code) == [code])
                let isMissing = requested == true && appTransaction != proof
                #expect(answer.needsAppTransaction == (isMissing ? true : nil))
                #expect(answer.account?.named.map(\.state) == (code == "accepted" ? [.active] : []))
            }
            let former = try await Self.me(Self.guest(1), world).message(EntitlementList.self)
            #expect(former.entitlements.map(\.state) == [.moved])
            #expect(try await world.send(.get, "/v1/events", as: .backend).text.contains("\"transferred\""))
        }
    }
}
