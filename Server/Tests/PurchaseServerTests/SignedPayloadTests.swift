import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

/// `signed_transaction` of claims and restores, which accepts any signed payload of the App Store.
@Suite("Signed payloads in claims", .server)
struct SignedPayloadTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    private func notification(revoked: Bool = false) throws -> String {
        var notification = MintedWorld.notification(environment: "Production")
        notification.notificationType = revoked ? "REFUND" : "ONE_TIME_CHARGE"
        notification.data?.renewalInfo = nil
        var template = SignedTransactionTemplate()
        template.transactionID = "1"
        template.originalTransactionID = "1"
        template.bundleID = "com.example.app"
        template.productID = "com.example.app.coins"
        template.type = .consumable
        template.purchaseDate = MintedWorld.moment
        template.environment = "Production"
        template.signedDate = MintedWorld.moment.addingTimeInterval(revoked ? 50 : 0)
        if revoked { template.revocationDate = template.signedDate }
        notification.data?.transaction = template
        notification.signedDate = template.signedDate
        return String(decoding: try MintedWorld.mint(notification), as: UTF8.self)
    }

    private func claim(_ jws: String, customerID: String?) -> PurchaseRequest {
        PurchaseRequest(
            signedTransaction: jws, productID: "com.example.app.coins", transactionID: "1", customerID: customerID)
    }

    @Test("A notification claims its transaction, and a refund in it counts without a customer")
    func claims() async throws {
        let purchase = try claim(notification(), customerID: "alice")
        let bought = try await world.send(.post, "/v1/purchases", purchase, as: .client)
        #expect(bought.status == 200, "\(bought.text)")
        #expect(try await world.entitlements(of: "alice").first?.balance == 1)
        let refund = try claim(notification(revoked: true), customerID: nil)
        let refunded = try await world.send(.post, "/v1/purchases", refund, as: .client)
        #expect(try refunded.problem == "field_missing")
        #expect(try await world.entitlements(of: "alice").first?.state == .withdrawn)
    }

    @Test("Renewal info proves no purchase; the app keeps its transaction and sends better evidence")
    func others() async throws {
        var template = SignedTransactionTemplate()
        template.transactionID = "1"
        template.originalTransactionID = "1"
        template.bundleID = "com.example.app"
        template.productID = "com.example.app.coins"
        template.environment = "Production"
        template.signedDate = MintedWorld.moment
        let renewal = try MintedWorld.mint(RenewalInfoTemplate(transaction: template))
        let answer = try await world.send(
            .post, "/v1/purchases", claim(String(decoding: renewal, as: UTF8.self), customerID: "alice"),
            as: .client)
        #expect(try answer.problem == "evidence_not_a_purchase" && answer.document?.disposition == .retry)
    }

    @Test("F.1 Notifications with a new body and realtime requests prove no purchase, and are recorded as such")
    func liveStore() async throws {
        var templates: [any SignedPayloadTemplate] = [
            RealtimeRequestTemplate(
                originalTransactionID: "1", productID: "com.example.app.coins", environment: "Production",
                signedDate: MintedWorld.moment)
        ]
        let app = [
            Claim("bundleId", .string("com.example.app")), Claim("environment", .string("Production")),
            Claim("unclaimSeatIds", .array([.string("a")])),
        ]
        for (name, body) in [
            ("unclaimInfo", ClaimValue.object(app)), ("newInfo", .object(app)), ("newInfo", .object([])),
        ] {
            var notification = NotificationTemplate()
            notification.notificationType = "UNCLAIM_SEATS"
            notification.notificationUUID = "7edea87d-98f0-42d0-9682-49ca81022f73"
            notification.signedDate = MintedWorld.moment
            notification.extra = [Claim(name, body)]
            templates.append(notification)
        }
        for template in templates {
            let jws = String(decoding: try MintedWorld.mint(template), as: UTF8.self)
            let answer = try await world.send(.post, "/v1/purchases", claim(jws, customerID: "alice"), as: .client)
            #expect(try answer.problem == "evidence_not_a_purchase", "\(answer.text)")
            #expect(try answer.document?.disposition == .retry)
        }
    }
}
