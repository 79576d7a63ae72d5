import AppStoreConnection
import Crypto
import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TestSupport
import Testing

extension Trait where Self == WorldTrait<PurchaseServerWorld> {
    fileprivate static func offers(to audience: OfferAudience? = nil) -> Self {
        WorldTrait { body in try await OfferRouteTests.run(audience: audience, body) }
    }
}

/// Signed offers, consents and extensions over HTTP.
@Suite("Offers, consents and extensions over HTTP", .offers())
struct OfferRouteTests {
    private let world: PurchaseServerWorld = CurrentWorld.opened()

    private static let monthly = "com.example.app.monthly"
    private static let key = P256.Signing.PrivateKey()

    fileprivate static func run(
        hasKey: Bool = true, bundles: Set<String> = ["com.example.app"], audience: OfferAudience? = nil,
        _ body: @escaping @Sendable (PurchaseServerWorld) async throws -> Void
    ) async throws {
        var introductory = OfferRule()
        if let audience { introductory.audience = audience }
        let serverKey = try AppStoreServerKey(issuerID: "issuer", keyID: "KEY", privateKey: key.pemRepresentation)
        try await PurchaseServerWorld.run(
            { configuration in
                var rule = OfferRule()
                rule.products = [monthly]
                configuration.apps["example"]?.offers.promotional["back"] = rule
                configuration.apps["example"]?.offers.introductory = introductory
                configuration.apps["example"]?.offers.advancedCommerce = OfferRule()
                configuration.apps["example"]?.bundleIDs = bundles
                if hasKey { configuration.appStoreKeys = ["example": [serverKey]] }
            }, body)
    }

    private static func offer(
        _ kind: String, _ change: (inout OfferSignatureRequest) -> Void = { _ in }
    ) -> OfferSignatureRequest {
        var request = OfferSignatureRequest(customerID: "alice", kind: kind)
        change(&request)
        return request
    }

    private static func ask(
        _ world: PurchaseServerWorld, _ request: OfferSignatureRequest
    ) async throws -> PurchaseServerWorld.Answer {
        try await world.send(.post, "/v1/offers/signatures", request, as: .backend)
    }

    @Test("29.3 The first form of a promotional offer verifies over its parts, joined by U+2063, with a small token")
    func firstForm() async throws {
        let token = UUID().uuidString
        for named in [token, nil] {
            let answer = try await Self.ask(
                world,
                Self.offer("promotional_v1") {
                    ($0.productID, $0.offerID, $0.appAccountToken) = (Self.monthly, "back", named)
                })
            #expect(answer.status == 201, "\(answer.text)")
            let signed = try answer.message(OfferSignatureMessage.self)
            #expect(signed.jws == nil && signed.keyID == "KEY")
            #expect(signed.timestamp == world.clock.now.millisecondsSince1970 - 60_000, "C.1")
            let parts = [
                "com.example.app", "KEY", Self.monthly, "back", (named ?? "").lowercased(),
                try #require(signed.nonce), "\(try #require(signed.timestamp))",
            ]
            let encoded = try #require(signed.signature)
            let bytes = try #require(Data(base64Encoded: encoded))
            let signature = try P256.Signing.ECDSASignature(derRepresentation: bytes)
            let text = Data(parts.joined(separator: "\u{2063}").utf8)
            #expect(Self.key.publicKey.isValidSignature(signature, for: text))
        }
    }

    @Test("29.3 Each kind has exactly its members; a missing or further one is refused, and nothing is recorded")
    func members() async throws {
        let promotional = Self.offer("promotional") { ($0.productID, $0.offerID) = (Self.monthly, "back") }
        #expect(try await Self.ask(world, promotional).status == 201)
        let introductory = Self.offer("introductory_eligibility") {
            ($0.productID, $0.transactionID, $0.allowIntroductoryOffer) = (Self.monthly, "1", false)
        }
        #expect(try await Self.ask(world, introductory).status == 201)
        let commerce = Self.offer("advanced_commerce") { $0.request = "{\"operation\":\"X\"}" }
        #expect(try await Self.ask(world, commerce).status == 201)
        func changed(
            _ request: OfferSignatureRequest, _ change: (inout OfferSignatureRequest) -> Void
        ) -> OfferSignatureRequest {
            var request = request
            change(&request)
            return request
        }
        for wrong in [
            Self.offer("unknown"), changed(promotional) { $0.offerID = nil },
            changed(promotional) { $0.productID = nil },
            changed(promotional) { $0.allowIntroductoryOffer = true }, changed(promotional) { $0.request = "{}" },
            changed(promotional) { $0.appAccountToken = UUID().uuidString },
            changed(introductory) { $0.transactionID = nil },
            changed(introductory) { $0.allowIntroductoryOffer = nil },
            changed(introductory) { $0.offerID = "back" }, changed(commerce) { $0.request = "[]" },
            changed(commerce) { $0.request = "no JSON" }, changed(commerce) { $0.productID = Self.monthly },
            changed(promotional) { $0.bundleID = "com.example.other" },
        ] {
            let answer = try await Self.ask(world, wrong)
            #expect(try answer.line == "400 field_malformed", "\(wrong)")
        }
        let other = try await Self.ask(world, changed(promotional) { $0.offerID = "other" })
        #expect(try other.line == "422 offer_unknown")
    }

    @Test("54.7 A customer's offers follow the subscriptions in the ledger, the settings and what the App Store signed")
    func customerOffers() async throws {
        try await Self.run(audience: .everybody) { world in
            func offers() async throws -> [String] {
                let answer = try await world.send(.get, "/v1/customers/alice/offers", as: .backend)
                #expect(answer.status == 200)
                let list = try answer.message(CustomerOffers.self)
                #expect(list.customerID == "alice" && list.offers.allSatisfy { $0.productID == Self.monthly })
                return list.offers.map { "\($0.type) \($0.offerID ?? "-") \($0.eligible) \($0.reason)" }
            }
            #expect(
                try await offers() == [
                    "introductory - true never_subscribed", "promotional back false never_subscribed",
                ])
            let claim = try PurchaseServerWorld.purchase(
                "9001", product: Self.monthly, receipt: try DropInWorld.receipt())
            #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
            #expect(try await offers() == ["introductory - false subscribed", "promotional back true subscribed"])
            world.clock.advance(days: 31)
            try await DropInWorld.tell(world.client, DropInWorld.signed(1), on: 30.5, status: 2) {
                ($0.autoRenewStatus, $0.expirationIntent) = (0, 1)
                $0.eligibleWinBackOfferIDs = ["come", "again"]
            }
            #expect(
                try await offers() == [
                    "introductory - true former_subscriber", "promotional back true former_subscriber",
                    "win_back come true signed", "win_back again true signed",
                ])
            // Bought again, with the introductory offer.
            try await DropInWorld.tell(
                world.client, DropInWorld.signed(2) { ($0.offerType, $0.offerDiscountType) = (1, "FREE_TRIAL") },
                on: 30.9)
            #expect(
                try await offers() == [
                    "introductory - false introductory_offer_used", "promotional back true subscribed",
                ])
            world.clock.advance(days: 31)
            try await DropInWorld.tell(world.client, DropInWorld.signed(2), on: 61, status: 2) {
                ($0.autoRenewStatus, $0.expirationIntent, $0.eligibleWinBackOfferIDs) = (0, 1, ["come"])
            }
            #expect(try await offers().last == "win_back come true signed")
            // A period without renewal info may have been bought with that offer.
            let period = try PurchaseServerWorld.signed("9004", product: Self.monthly) {
                ($0.originalTransactionID, $0.type) = ("9001", .autoRenewableSubscription)
                ($0.purchaseDate, $0.expiresDate) = (DropInWorld.date(62), DropInWorld.date(92))
                ($0.signedDate, $0.originalPurchaseDate) = (DropInWorld.date(62), DropInWorld.date(0))
            }
            #expect(try await world.send(.post, "/v1/purchases", period.claim(), as: .client).status == 200)
            world.clock.advance(days: 31)
            #expect(try await offers().last == "promotional back true former_subscriber")
        }
    }

    @Test("54.7 Products of another group, other audiences and used limits are offered by the rules of a signature")
    func offerRules() {
        func subscription(_ product: String, _ group: ExactText?, active: Bool = false, used: Bool = false)
            -> CustomerOffer.Subscription
        {
            CustomerOffer.Subscription(productID: product, groupID: group, isActive: active, hadIntroductory: used)
        }
        var rules = OfferRules()
        var back = OfferRule()
        (back.products, back.audience, back.limit) = (["gold"], .former, 1)
        rules.promotional["back"] = back
        let now = Timestamp(millisecondsSince1970: 1_000)
        let cases:
            [(
                had: [CustomerOffer.Subscription], audience: OfferAudience, signed: [String: [Timestamp]],
                expected: [String]
            )] = [
                ([], .new, [:], ["gold never_subscribed +", "gold back never_subscribed", "news never_subscribed +"]),
                (
                    [subscription("gold", "a", used: true), subscription("news", "b")], .former, [:],
                    ["gold introductory_offer_used", "gold back former_subscriber +", "news former_subscriber +"]
                ),
                (
                    [subscription("gold", "a", used: true)], .former, ["back": [now]],
                    ["gold introductory_offer_used", "gold back offer_exhausted", "news introductory_offer_used"]
                ),
                (
                    [subscription("gold", nil, active: true), subscription("news", "b")], .subscribers, [:],
                    ["gold subscribed", "gold back offer_not_for_customer", "news subscribed"]
                ),
            ]
        let named = CustomerOffer.all(
            rules, products: ["news"], groups: ["news": "b"], subscriptions: [subscription("gold", "a", active: true)],
            audience: .subscribers, signed: [:], at: now)
        #expect(named.map(\.reason) == [.neverSubscribed], "the settings say that it is of another group")
        for item in cases {
            let offers = CustomerOffer.all(
                rules, products: ["gold", "news"], subscriptions: item.had, audience: item.audience,
                signed: item.signed, at: now)
            let found = offers.map {
                [$0.productID, $0.offerID, $0.reason.rawValue, $0.isEligible ? "+" : nil].compactMap(\.self)
                    .joined(separator: " ")
            }
            #expect(found == item.expected)
        }
    }

    @Test("D.1 The introductory offer is refused to a second account of a subscriber, by the owner of the transaction")
    func secondAccount() async throws {
        try await Self.run(audience: .new) { world in
            let period = try PurchaseServerWorld.signed("900", product: Self.monthly) {
                $0.type = .autoRenewableSubscription
                $0.expiresDate = $0.purchaseDate?.addingTimeInterval(30 * 86_400)
            }
            #expect(try await world.send(.post, "/v1/purchases", period.claim(), as: .client).status == 200)
            let refused = try await Self.ask(
                world,
                Self.offer("introductory_eligibility") {
                    $0.customerID = "alice-2"
                    ($0.productID, $0.transactionID, $0.allowIntroductoryOffer) = (Self.monthly, "900", true)
                })
            #expect(try refused.line == "409 offer_not_for_customer")
            let document = try #require(try refused.document)
            #expect(document.expected == "new" && document.found == "subscribers")
        }
    }

    @Test("29.3 Without a key nothing is signed and nothing extended; with several bundle ids one must be named")
    func keys() async throws {
        let promotional = Self.offer("promotional") { ($0.productID, $0.offerID) = (Self.monthly, "back") }
        let wanted = ExtensionRequest(requestID: "e1", days: 7, reason: "an outage")
        try await Self.run(hasKey: false) { world in
            let offer = try await Self.ask(world, promotional)
            #expect(try offer.line == "409 app_store_not_configured")
            let answer = try await world.send(.post, "/v1/subscriptions/900/extensions", wanted)
            #expect(try answer.line == "409 app_store_not_configured")
        }
        try await Self.run(bundles: ["com.example.app", "com.example.watch"]) { world in
            #expect(try await Self.ask(world, promotional).status == 400)
            var named = promotional
            named.bundleID = "com.example.watch"
            #expect(try await Self.ask(world, named).status == 201)
            let unknown = try await world.send(.post, "/v1/subscriptions/900/extensions", wanted)
            #expect(unknown.status == 404)
            #expect(try await world.send(.post, "/v1/subscriptions/900/extensions", wanted, as: .backend).status == 403)
        }
    }

    @Test("29.3 A consent is recorded, shown, changed and taken back; refund requests are listed by state")
    func consents() async throws {
        let path = "/v1/customers/alice/consumption_consent"
        #expect(
            try await world.send(.get, path, as: .backend).message(ConsumptionConsentMessage.self)
                == ConsumptionConsentMessage(customerID: "alice"))
        for consented in [true, true, false] {
            let answer = try await world.send(.put, path, ConsumptionConsentRequest(consented: consented), as: .backend)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try answer.message(ConsumptionConsentMessage.self).consented == consented)
        }
        #expect(
            try await world.send(.get, path, as: .backend).message(ConsumptionConsentMessage.self).consented
                == false)
        #expect(try await world.send(.put, path, data: Data("{}".utf8), as: .backend).status == 400)
        #expect(try await world.send(.get, path, as: .client).status == 403)
        let page = try await world.send(.get, "/v1/refund_requests?state=open", as: .backend)
        #expect(try page.message(RefundRequestPage.self).refundRequests == [])
        #expect(try await world.send(.get, "/v1/refund_requests?state=lost", as: .backend).status == 400)
    }
}
