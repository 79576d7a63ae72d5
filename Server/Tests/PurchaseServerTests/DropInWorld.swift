import EvidenceMint
import Foundation
import HTTPTypes
import NIOCore
import NIOFoundationCompat
import PurchaseAPI
import PurchaseLedger
import ServerTestSupport
import TestSupport
import Testing

/// A subscription of the minted world: its first receipt, the news about it, and `verifyReceipt` asked over real HTTP.
enum DropInWorld {
    static let monthly = "com.example.app.monthly"

    static func date(_ day: Double) -> Date { MintedWorld.moment.addingTimeInterval(day * 86_400) }

    static func period(_ number: Int) -> PurchaseTemplate {
        var period = PurchaseTemplate.subscription(
            productID: monthly, transactionID: "900\(number)", originalTransactionID: "9001",
            purchaseDate: date(Double(number - 1) * 30), originalPurchaseDate: date(0),
            expiresDate: date(Double(number) * 30))
        period.webOrderLineItemID = 500 + UInt64(number)
        return period
    }

    static func receipt(_ purchases: [PurchaseTemplate] = [period(1)]) throws -> [UInt8] {
        try MintedWorld.mint(
            .production(bundleID: "com.example.app", creationDate: MintedWorld.moment, purchases: purchases))
    }

    /// A signed period.
    static func signed(
        _ number: Int, _ change: (inout SignedTransactionTemplate) -> Void = { _ in }
    ) -> SignedTransactionTemplate {
        var template = SignedTransactionTemplate()
        template.transactionID = "900\(number)"
        template.originalTransactionID = "9001"
        template.webOrderLineItemID = "\(500 + number)"
        template.bundleID = "com.example.app"
        template.productID = monthly
        template.subscriptionGroupIdentifier = "club"
        template.type = .autoRenewableSubscription
        template.quantity = 1
        // With a fraction of a second, which the answer leaves out.
        template.purchaseDate = date(Double(number - 1) * 30).addingTimeInterval(0.345)
        template.originalPurchaseDate = date(0)
        template.expiresDate = date(Double(number) * 30).addingTimeInterval(0.345)
        template.signedDate = template.purchaseDate
        template.inAppOwnershipType = "PURCHASED"
        template.environment = "Production"
        change(&template)
        return template
    }

    /// Delivers a notification about a period.
    static func tell(
        _ client: LiveClient, _ period: SignedTransactionTemplate, on day: Double, status: Int64? = nil,
        _ change: (inout RenewalInfoTemplate) -> Void = { _ in }
    ) async throws {
        var period = period
        period.signedDate = date(day)
        var renewal = RenewalInfoTemplate(transaction: period)
        renewal.signedDate = date(day)
        change(&renewal)
        var template = NotificationTemplate(notificationType: "DID_RENEW", transaction: period, renewalInfo: renewal)
        template.data?.status = status
        template.signedDate = date(day)
        template.notificationUUID = UUID().uuidString.lowercased()
        let payload = String(decoding: try MintedWorld.mint(template), as: UTF8.self)
        let body = try JSONEncoder().encode(NotificationRequest(signedPayload: payload))
        let answer = try await client.execute(
            uri: "/notifications/v2", method: .post, headers: [.contentType: "application/json"],
            body: ByteBuffer(bytes: body))
        #expect(answer.status == .ok, "\(String(buffer: answer.body))")
    }

    /// Observes signed data as if the App Store Server API had answered it.
    static func observe(_ ledger: PurchaseLedger, _ template: some SignedPayloadTemplate) async throws {
        let outcome = try await ledger.observe(
            EvidenceSubmission(
                app: "example", source: "app_store_server_api", evidence: try MintedWorld.mint(template)))
        #expect(outcome.code == "accepted")
    }

    /// An answer of `verifyReceipt`.
    struct Reply {
        let state: String?
        let text: String
        let json: [String: Any]

        var status: Int? { json["status"] as? Int }
        var info: [[String: Any]] { json["latest_receipt_info"] as? [[String: Any]] ?? [] }
        var renewals: [[String: String]] { json["pending_renewal_info"] as? [[String: String]] ?? [] }
    }

    static func ask(_ client: LiveClient, _ receipt: [UInt8], excludingOld: Bool = false) async throws -> Reply {
        let object: [String: Any] = [
            "receipt-data": Data(receipt).base64EncodedString(), "exclude-old-transactions": excludingOld,
        ]
        let answer = try await client.execute(
            uri: "/verifyReceipt", method: .post, headers: [.contentType: "application/json"],
            body: ByteBuffer(bytes: try JSONSerialization.data(withJSONObject: object)))
        let json = try #require(try JSONSerialization.jsonObject(with: Data(buffer: answer.body)) as? [String: Any])
        return Reply(
            state: answer.headers[try #require(HTTPField.Name("Assay-State"))], text: String(buffer: answer.body),
            json: json)
    }
}
