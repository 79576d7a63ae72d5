import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

/// Notifications with content that this version does not know: kept, answered 200, and what it knows of them counts.
@Suite("28 Unknown content of notifications over HTTP", .server)
struct UnknownNotificationTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    private static let (coins, monthly) = ("com.example.app.coins", "com.example.app.monthly")

    private static func transaction(
        _ id: String, product: String = coins, _ change: (inout SignedTransactionTemplate) -> Void = { _ in }
    ) -> SignedTransactionTemplate {
        var template = SignedTransactionTemplate()
        (template.transactionID, template.originalTransactionID) = (id, id)
        (template.bundleID, template.productID, template.environment) = ("com.example.app", product, "Production")
        template.type = product == coins ? .consumable : .autoRenewableSubscription
        template.purchaseDate = MintedWorld.moment
        template.originalPurchaseDate = MintedWorld.moment
        template.signedDate = MintedWorld.moment
        if product == monthly { template.expiresDate = MintedWorld.moment.addingTimeInterval(30 * 86_400) }
        change(&template)
        return template
    }

    private static func send(
        _ world: PurchaseServerWorld, _ template: NotificationTemplate, beside members: [String: String] = [:]
    ) async throws -> PurchaseServerWorld.Answer {
        let payload = String(decoding: try MintedWorld.mint(template), as: UTF8.self)
        let body = try JSONSerialization.data(withJSONObject: members.merging(["signedPayload": payload]) { $1 })
        return try await world.send(.post, "/notifications/v2", data: body, as: nil, idempotencyKey: nil)
    }

    /// Claims a transaction for a customer of its own.
    private static func claim(
        _ world: PurchaseServerWorld, _ transaction: SignedTransactionTemplate
    ) async throws -> PurchaseServerWorld.Answer {
        let id = transaction.transactionID ?? ""
        return try await world.send(
            .post, "/v1/purchases",
            PurchaseRequest(
                signedTransaction: String(decoding: try MintedWorld.mint(transaction), as: UTF8.self),
                productID: transaction.productID ?? "", transactionID: id, customerID: "customer-\(id)"))
    }

    private static func listed(_ world: PurchaseServerWorld) async throws -> [NotificationMessage] {
        try await world.send(.get, "/v1/notifications?limit=100", as: .backend).message(NotificationPage.self)
            .notifications
    }

    /// Sends the notification of a refund of coins that somebody has, and requires that it takes them.
    private static func refund(
        _ world: PurchaseServerWorld, _ id: String, type: String? = "REFUND", subtype: String? = nil,
        beside members: [String: String] = [:],
        _ change: (inout NotificationTemplate, inout SignedTransactionTemplate) -> Void = { _, _ in }
    ) async throws {
        #expect(try await claim(world, transaction(id)).status == 200)
        #expect(try await world.entitlements(of: "customer-\(id)").first?.balance == 1)
        var refunded = transaction(id) { $0.refund(at: $0.signedDate?.addingTimeInterval(60)) }
        var template = NotificationTemplate(notificationType: type ?? "", subtype: subtype, transaction: refunded)
        change(&template, &refunded)
        template.data?.transaction = refunded
        template.notificationType = type
        template.notificationUUID = UUID().uuidString.lowercased()
        let answer = try await send(world, template, beside: members)
        #expect(answer.status == 200, "\(id): \(answer.text)")
        #expect(try await world.entitlements(of: "customer-\(id)").first?.balance == 0, "\(id)")
    }

    @Test("28 Unknown types and subtypes are answered 200 and listed as they are, and the refund in them counts")
    func types() async throws {
        let words: [(String?, String?)] = [
            ("SOMETHING_NEW", nil), ("SOMETHING_NEW", "OF_2027"), ("REFUND", "IN_FULL_MOON"), ("refund", nil),
            ("X", "~!"), (nil, "ALONE"), (nil, nil),
        ]
        for (place, words) in words.enumerated() {
            try await Self.refund(world, "\(100 + place)", type: words.0, subtype: words.1)
        }
        let listed = try await Self.listed(world)
        #expect(listed.reversed().map(\.type) == words.map(\.0) && listed.reversed().map(\.subtype) == words.map(\.1))
    }

    @Test("28 Unknown objects are kept, alone and beside known ones, and without a bundle id they are no app's")
    func objects() async throws {
        let app = [Claim("bundleId", .string("com.example.app")), Claim("environment", .string("Production"))]
        var alone = NotificationTemplate()
        (alone.notificationType, alone.signedDate) = ("OBJECT", MintedWorld.moment)
        alone.notificationUUID = UUID().uuidString.lowercased()
        alone.extra = [Claim("novelty", .object(app + [Claim("more", .array([.null, .boolean(true)]))]))]
        #expect(try await Self.send(world, alone).status == 200)
        #expect(try await Self.listed(world).map(\.content) == ["unknown"])
        let values: [ClaimValue] = [
            .null, .boolean(false), .integer(-1), .number(0.5), .string(""), .array([.object([])]), .object(app),
        ]
        for (place, value) in values.enumerated() {
            try await Self.refund(world, "\(200 + place)") { template, refunded in
                template.extra = [Claim("novelty", value)]
                template.data?.extra = [Claim("signedNoveltyInfo", value)]
                refunded.extra = [Claim("novelty", value)]
            }
        }
        alone.extra = [Claim("novelty", .object([Claim("signedNoveltyInfo", .string("a.b.c"))]))]
        alone.notificationUUID = UUID().uuidString.lowercased()
        let answer = try await Self.send(world, alone)
        #expect(try answer.status == 404 && answer.problem == "app_unknown")
        #expect(try await Self.listed(world).count == 1 + values.count)
    }

    @Test("28 Unknown values of every enumeration are answered 200, and the rest of the purchase counts", .server)
    func values() async throws {
        struct Signed {
            var transaction: SignedTransactionTemplate
            var renewal: RenewalInfoTemplate
            var notification = NotificationTemplate()
        }
        let changes: [(name: String, isActive: Bool, change: @Sendable (inout Signed) -> Void)] = [
            (
                "type", true,
                {
                    $0.transaction.type = nil
                    $0.transaction.extra = [Claim("type", .string("Rental"))]
                }
            ),
            ("inAppOwnershipType", true, { $0.transaction.inAppOwnershipType = "LENT" }),
            ("transactionReason", true, { $0.transaction.transactionReason = "GIFT" }),
            ("offerType", true, { ($0.transaction.offerType, $0.renewal.offerType) = (99, 99) }),
            ("offerDiscountType", true, { $0.transaction.offerDiscountType = "PAY_LATER" }),
            ("offerPeriod", true, { $0.transaction.offerPeriod = "P1Q" }),
            ("billingPlanType", true, { $0.transaction.billingPlanType = "BILLED_NEVER" }),
            ("storefront", true, { $0.transaction.storefront = "MOON" }),
            ("currency", true, { ($0.transaction.price, $0.transaction.currency) = (5, "doubloon") }),
            ("reason", true, { $0.transaction.extra = [Claim("additionalTransactionReason", .string("LUCK"))] }),
            (
                "invitationManagement", true,
                {
                    let seats = Claim("invitationManagement", .string("NOBODY"))
                    $0.transaction.extra = [Claim("multiSeatInfo", .object([seats]))]
                }
            ),
            (
                "revocationReason", false,
                {
                    $0.transaction.revocationDate = $0.transaction.signedDate
                    $0.transaction.revocationReason = 7
                }
            ),
            (
                "revocationType", false,
                {
                    $0.transaction.revocationDate = $0.transaction.signedDate
                    $0.transaction.revocationType = "REFUND_ODD"
                }
            ),
            // A revocation without a date takes effect at its signature.
            ("revocationType alone", false, { $0.transaction.revocationType = "REFUND_ODD" }),
            ("autoRenewStatus", true, { $0.renewal.autoRenewStatus = 3 }),
            ("expirationIntent", true, { $0.renewal.expirationIntent = 42 }),
            ("priceIncreaseStatus", true, { $0.renewal.priceIncreaseStatus = 9 }),
            ("renewalBillingPlanType", true, { $0.renewal.renewalBillingPlanType = "SOON" }),
            ("status", true, { $0.notification.data?.status = 6 }),
            ("negative status", true, { $0.notification.data?.status = -1 }),
            ("consumptionRequestReason", true, { $0.notification.data?.consumptionRequestReason = "BOREDOM" }),
            ("version", true, { $0.notification.version = "3.0" }),
        ]
        for (place, change) in changes.enumerated() {
            let id = "\(300 + place)"
            let bought = Self.transaction(id, product: Self.monthly)
            var signed = Signed(transaction: bought, renewal: RenewalInfoTemplate(transaction: bought))
            signed.notification.data = NotificationTemplate.Data()
            change.change(&signed)
            let notification = signed.notification
            var template = NotificationTemplate(
                notificationType: "DID_RENEW", transaction: signed.transaction, renewalInfo: signed.renewal)
            template.version = notification.version
            template.data?.status = notification.data?.status
            template.data?.consumptionRequestReason = notification.data?.consumptionRequestReason
            let answer = try await Self.send(world, template)
            #expect(answer.status == 200, "\(change.name): \(answer.text)")
            // The claim of a withdrawn purchase has the transaction as it was bought.
            _ = try await Self.claim(world, change.isActive ? signed.transaction : bought)
            let entitlement = try await world.entitlements(of: "customer-\(id)").first
            #expect((entitlement?.state == .active) == change.isActive, "\(change.name): \(entitlement as Any)")
        }
        #expect(try await Self.listed(world).count == changes.count)
    }

    @Test("28 200 kB of unknown fields are kept wherever they are, and the refund beside them counts")
    func largeFields() async throws {
        // Base64 adds a third at each nesting, and the body has at most 384 KiB.
        let novelty = Claim("novelty", .string(String(repeating: "x", count: 200_000)))
        try await Self.refund(world, "400") { template, _ in template.extra = [novelty] }
        try await Self.refund(world, "401") { template, _ in template.data?.extra = [novelty] }
        try await Self.refund(world, "402") { _, refunded in refunded.extra = [novelty] }
        let members = (0..<100).map { Claim("novelty\($0)", .string(String(repeating: "x", count: 60))) }
        let objects = (0..<24).map { Claim("object\($0)", .object(members)) }
        try await Self.refund(world, "403") { template, _ in template.extra = objects }
        let beside = Dictionary(
            uniqueKeysWithValues: (0..<100).map { ("novelty\($0)", String(repeating: "x", count: 2000)) })
        try await Self.refund(world, "404", beside: beside)
        let listed = try await Self.listed(world)
        #expect(listed.count == 5 && listed.allSatisfy { $0.evidenceSHA256 != nil })
    }

    @Test("28 Fields beyond the limits are refused, with 503 where a newer version may read them, and change nothing")
    func excessiveFields() async throws {
        // Now the certificates are known, so that the lane of unknown ones refuses nothing.
        #expect(try await Self.send(world, MintedWorld.testNotification()).status == 200)
        func deep(_ levels: Int) -> ClaimValue { (0..<levels).reduce(.null) { value, _ in .array([value]) } }
        let refused: [(name: String, claims: [Claim], status: Int)] = [
            ("type", [Claim("notificationType", .string("REMBOURSÉ"))], 503),
            ("long type", [Claim("notificationType", .string(String(repeating: "T", count: 65)))], 503),
            ("subtype", [Claim("subtype", .integer(5))], 503),
            ("members", (0..<200).map { Claim("novelty\($0)", .null) }, 503),
            ("values", [Claim("novelty", .array(Array(repeating: .integer(1), count: 5000)))], 503),
            ("depth", [Claim("novelty", deep(40))], 503),
            ("name", [Claim(String(repeating: "n", count: 100), .null)], 503),
            ("300 kB signed", [Claim("novelty", .string(String(repeating: "x", count: 300_000)))], 413),
        ]
        for (name, claims, status) in refused {
            var template = MintedWorld.testNotification()
            if claims.contains(where: { $0.name == "notificationType" }) { template.notificationType = nil }
            template.extra = claims
            let answer = try await Self.send(world, template)
            #expect(answer.status == status, "\(name): \(answer.text)")
            guard status == 503 else { continue }
            #expect(try answer.problem == "claims_malformed" && answer.headers[.retryAfter] != nil, "\(name)")
        }
        #expect(try await Self.listed(world).count == 1)
        #expect(try await Self.send(world, MintedWorld.testNotification()).status == 200)
    }
}

/// What else comes to the address for notifications, and JSON as other programs write it.
@Suite("Other bodies at the address for notifications", .server)
struct OtherNotificationBodyTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    @Test("A notification of version 1 is told what to switch")
    func version1() async throws {
        let body: [String: Any] = [
            "notification_type": "DID_RENEW", "environment": "PROD", "password": "secret",
            "auto_renew_status": "true",
            "bid": "com.example.app", "unified_receipt": ["status": 0, "latest_receipt_info": [["quantity": "1"]]],
        ]
        let data = try JSONSerialization.data(withJSONObject: body)
        for path in ["/notifications/v2", "/notifications/v2/example"] {
            let answer = try await world.send(.post, path, data: data, as: nil, idempotencyKey: nil)
            #expect(answer.status == 400)
            let problem = try #require(try answer.document)
            #expect(problem.code == "notification_version_1" && problem.found == "notification_type")
            #expect(problem.detail?.contains("version 2") ?? false)
            #expect(!answer.text.contains("secret"))
        }
        let other = try await world.send(
            .post, "/notifications/v2", data: Data(#"{"signed_payload":"x"}"#.utf8), as: nil, idempotencyKey: nil)
        #expect(try other.problem == "field_missing")
    }

    @Test("A byte order mark before the JSON of a request is skipped, and anywhere else it is refused")
    func byteOrderMark() async throws {
        let mark = Data([0xEF, 0xBB, 0xBF])
        let bought = try PurchaseServerWorld.signed("1")
        let claim = try JSONEncoder().encode(bought.claim())
        let answer = try await world.send(.post, "/v1/purchases", data: mark + claim)
        #expect(answer.status == 200, "\(answer.text)")
        let payload = String(decoding: try MintedWorld.mint(MintedWorld.notification()), as: UTF8.self)
        let notification = try JSONEncoder().encode(NotificationRequest(signedPayload: payload))
        let received = try await world.send(
            .post, "/notifications/v2", data: mark + notification, as: nil, idempotencyKey: nil)
        #expect(received.status == 200, "\(received.text)")
        let receipt = Data(try DropInWorld.receipt()).base64EncodedString()
        for members in [#""receipt-data":"\#(receipt)""#, #""receipt-data":"\#(receipt)","other":[1]"#] {
            let asked = try await world.send(
                .post, "/verifyReceipt", data: mark + Data("{\(members)}".utf8), as: nil, idempotencyKey: nil)
            #expect(asked.text.contains(#""status":0"#), "\(asked.text.prefix(100))")
        }
        #expect(try await world.send(.post, "/v1/purchases", data: mark + mark + claim).status == 400)
        #expect(try await world.send(.post, "/v1/purchases", data: claim + mark).status == 400)
    }
}
