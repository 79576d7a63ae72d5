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
    fileprivate static var retention: Self { WorldTrait { try await RetentionRouteTests.run($0) } }
}

/// What Apple is answered when it asks what to show to a customer who is about to cancel.
@Suite("Realtime requests", .retention)
struct RetentionRouteTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    private static let monthly = "com.example.app.monthly"
    private static let offerMessage = "11111111-1111-4111-8111-111111111111"
    private static let germanMessage = "22222222-2222-4222-8222-222222222222"
    private static let message = "33333333-3333-4333-8333-333333333333"
    private static let key = P256.Signing.PrivateKey()

    /// The settings of the tests, as a file has them.
    private static let settings = """
        apps:
          example:
            bundle_ids: [com.example.app]
            apple_id: 1234567890
            sandbox_access: everyone
            products:
              com.example.app.monthly: { kind: auto_renewable }
              com.example.app.yearly: { kind: auto_renewable }
              com.example.app.other: { kind: auto_renewable }
            offers:
              promotional:
                stay: { products: [com.example.app.monthly], audience: subscribers, limit: 1 }
            retention:
              - products: [com.example.app.monthly]
                locales: [de, fr-CA]
                message: \(germanMessage)
                alternate_product: com.example.app.yearly
                billing_plan: monthly
              - products: [com.example.app.monthly]
                message: \(offerMessage)
                promotional_offer: stay
                otherwise: \(message)
              - products: [com.example.app.other]
                locales: [en]
                message: \(message)
                advanced_commerce_data: c2lnbmVk
              - products: [com.example.app.yearly]
                message: \(message)
        """

    fileprivate static func run(_ body: @escaping @Sendable (PurchaseServerWorld) async throws -> Void) async throws {
        let read = try ServerSettings(file: Array(settings.utf8), files: nil).configuration
        let serverKey = try AppStoreServerKey(issuerID: "issuer", keyID: "KEY", privateKey: key.pemRepresentation)
        try await PurchaseServerWorld.run(
            { configuration in
                configuration.apps = read.apps
                configuration.retention = read.retention
                configuration.appStoreKeys = ["example": [serverKey]]
            }, body)
    }

    private static func request(
        _ world: PurchaseServerWorld, product: String = monthly, original: String = "900",
        fault: SignedPayloadFault? = nil,
        _ change: (inout RealtimeRequestTemplate) -> Void = { _ in }
    ) throws -> Data {
        var template = RealtimeRequestTemplate(
            originalTransactionID: original, productID: product, environment: "Production",
            signedDate: world.clock.now.date)
        change(&template)
        let payload = String(decoding: try MintedWorld.mint(template, fault: fault), as: UTF8.self)
        return try JSONEncoder().encode(["signedPayload": payload])
    }

    private static func ask(
        _ world: PurchaseServerWorld, _ body: Data, path: String = "/retention/realtime"
    ) async throws -> PurchaseServerWorld.Answer {
        try await world.send(.post, path, data: body, as: nil, idempotencyKey: nil)
    }

    @Test("29.3 The first rule that fits decides, by product and locale, and the answer has exactly one member")
    func rules() async throws {
        for (locale, product, expected) in [
            ("de-DE", Self.monthly, ["alternateProduct", Self.germanMessage]),
            ("de", Self.monthly, ["alternateProduct", Self.germanMessage]),
            ("fr_CA", Self.monthly, ["alternateProduct", Self.germanMessage]),
            // Nobody owns the subscription, so there is no offer.
            ("fr-FR", Self.monthly, ["message", Self.message]),
            ("den-DK", Self.monthly, ["message", Self.message]),
            ("en-US", "com.example.app.other", ["advancedCommerceInfo", Self.message]),
            ("en-US", "com.example.app.yearly", ["message", Self.message]),
        ] {
            let answer = try await Self.ask(world, try Self.request(world, product: product) { $0.userLocale = locale })
            #expect(answer.status == 200, "\(answer.text)")
            let object = try #require(
                JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: [String: Any]])
            #expect(Array(object.keys) == [expected[0]], "\(locale) \(product)")
            #expect(object[expected[0]]?["messageIdentifier"] as? String == expected[1])
        }
        let plan = try await Self.ask(world, try Self.request(world) { $0.userLocale = "de-AT" })
        #expect(plan.text.contains("\"billingPlanType\":\"MONTHLY\"") && plan.text.contains("app.yearly"))
        let none = try await Self.ask(
            world, try Self.request(world, product: "com.example.app.other") { $0.userLocale = "it-IT" })
        #expect(try none.line == "404 retention_rule_missing")
    }

    @Test("29.3 A subscriber gets the offer once, signed for them and recorded; then the other message is shown")
    func offer() async throws {
        let bought = try PurchaseServerWorld.signed("900", product: Self.monthly) {
            $0.type = .autoRenewableSubscription
            $0.expiresDate = MintedWorld.moment.addingTimeInterval(30 * 86_400)
        }
        #expect(try await world.send(.post, "/v1/purchases", bought.claim(), as: .client).status == 200)
        let answer = try await Self.ask(world, try Self.request(world))
        let message = try answer.message(RealtimeAnswer.self)
        #expect(message.promotionalOffer?.messageIdentifier == Self.offerMessage)
        let parts = try #require(message.promotionalOffer?.promotionalOfferSignatureV2).split(separator: ".")
        #expect(parts.count == 3)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: try Self.bytes(parts[2]))
        #expect(Self.key.publicKey.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8)))
        let claims = try #require(JSONSerialization.jsonObject(with: try Self.bytes(parts[1])) as? [String: Any])
        #expect(claims["aud"] as? String == "promotional-offer" && claims["offerIdentifier"] as? String == "stay")
        #expect(claims["transactionId"] as? String == "900" && claims["productId"] as? String == Self.monthly)
        // Apple refuses what is from the future by its own clock.
        let now = world.clock.now.millisecondsSince1970 / 1000
        #expect(claims["iat"] as? Int == Int(now) - 60, "C.1")
        let again = try await Self.ask(world, try Self.request(world)).message(RealtimeAnswer.self)
        #expect(again == RealtimeAnswer(message: RealtimeMessage(messageIdentifier: Self.message)))
    }

    private static func bytes(_ part: Substring) throws -> Data {
        let text = part.replacing("-", with: "+").replacing("_", with: "/")
        return try #require(Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4)))
    }

    @Test(
        "29.3 A realtime request that Apple did not sign is refused",
        arguments: [
            SignedPayloadFault.wrongRoot, .missingLeafMarker, .foreignSignature, .flippedPayloadByte, .editedClaims,
            .algNone, .zeroSignature, .missingX5C,
        ])
    func forged(_ fault: SignedPayloadFault) async throws {
        let answer = try await Self.ask(world, try Self.request(world, fault: fault))
        #expect(try answer.status == 400 && answer.problem != nil, "\(answer.text)")
    }

    @Test("29.3 Requests of other apps, other environments, other kinds, and old ones are refused")
    func others() async throws {
        let foreign = try await Self.ask(world, try Self.request(world) { $0.appAppleID = 7 })
        #expect(try foreign.line == "404 retention_of_no_app")
        let named = try await Self.ask(
            world, try Self.request(world) { $0.appAppleID = 7 }, path: "/retention/realtime/example")
        #expect(named.status == 404)
        let unknown = try await Self.ask(world, try Self.request(world), path: "/retention/realtime/unknown")
        #expect(unknown.status == 404)
        let right = try await Self.ask(world, try Self.request(world), path: "/retention/realtime/example")
        #expect(right.status == 200)
        let strange = try await Self.ask(world, try Self.request(world) { $0.environment = "Elsewhere" })
        #expect(strange.status == 404)
        for seconds in [-301.0, 301] {
            let old = try await Self.ask(
                world, try Self.request(world) { $0.signedDate = $0.signedDate?.addingTimeInterval(seconds) })
            #expect(try old.line == "400 retention_request_old")
        }
        let transaction = try PurchaseServerWorld.signed("1").jws
        let kind = try await Self.ask(world, try JSONEncoder().encode(["signedPayload": transaction]))
        #expect(try kind.line == "400 evidence_unrecognized")
        #expect(try await Self.ask(world, Data("{}".utf8)).problem == "field_missing")
        #expect(try await world.send(.get, "/retention/realtime", as: nil, idempotencyKey: nil).status == 405)
    }
}
