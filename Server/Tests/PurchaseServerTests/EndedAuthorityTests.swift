import EvidenceMint
import Foundation
import HTTPTypes
import Logging
import PurchaseAPI
import PurchaseLedger
import TestSupport
import Testing

/// Evidence under an intermediate that had ended an hour before it signed.
@Suite("C.5 Evidence under an intermediate that had just ended")
struct EndedAuthorityTests {
    private static let end = MintedWorld.moment.addingTimeInterval(-3600)

    private static func receipt() throws -> [UInt8] {
        var template = MintedWorld.receipt()
        template.purchases = [
            .consumable(
                productID: "com.example.app.coins", transactionID: "2000000000000001",
                purchaseDate: MintedWorld.moment)
        ]
        return try MintedWorld.mint(
            template, authority: MintedWorld.authority().replacingIntermediate { $0.notAfter = end })
    }

    private static func notification() throws -> NotificationRequest {
        let authority = try MintedWorld.store().signedPayload.replacingIntermediate { $0.notAfter = end }
        let template = NotificationTemplate.test(
            bundleID: "com.example.app", environment: "Sandbox", signedDate: MintedWorld.moment)
        return NotificationRequest(signedPayload: try SignedPayloadEncoder(authority: authority).encode(template))
    }

    @Test(
        "C.5 It is to be sent again for 48 hours after that end, and is refused afterwards; the log names it once an hour"
    )
    func window() async throws {
        let log = RecordingLog()
        try await PurchaseServerWorld.run(logger: log.logger(.info)) { world in
            let receipt = try Self.receipt()
            let claim = try PurchaseServerWorld.purchase(receipt: receipt)
            let body = Data(#"{"receipt-data":"\#(Data(receipt).base64EncodedString())"}"#.utf8)
            let notification = try Self.notification()
            func check(_ code: String, _ disposition: PurchaseAPI.Disposition, _ receiptStatus: Int, _ status: Int)
                async throws
            {
                for _ in 0..<2 {
                    let answer = try await world.send(.post, "/v1/purchases", claim, as: .client)
                    let document = try #require(try answer.document)
                    #expect(document.code == code && document.disposition == disposition, "\(answer.text)")
                    #expect(answer.status == 422)
                }
                let dropIn = try await world.send(.post, "/sandbox/verifyReceipt", data: body, as: nil)
                #expect(dropIn.status == 200 && dropIn.text.contains("\"status\":\(receiptStatus)"), "\(dropIn.text)")
                #expect(dropIn.headers[try #require(HTTPField.Name("Assay-Reason"))] == code)
                let told = try await world.send(.post, "/notifications/v2", notification, as: nil, idempotencyKey: nil)
                #expect(try told.status == status && told.problem == code, "\(told.text)")
                let restored = try await world.send(
                    .post, "/v1/restores",
                    RestoreRequest(customerID: "alice", signedTransactions: [notification.signedPayload]), as: .client
                ).message(RestoreAnswer.self)
                #expect(restored.refused.map(\.disposition) == [disposition])
                let inspected = try await world.send(
                    .post, "/v1/inspect", InspectionRequest(receiptData: claim.receiptData), as: .backend
                ).message(InspectionAnswer.self)
                #expect(inspected.code == code && inspected.disposition == disposition)
            }
            try await check("certificate_just_expired", .retry, 21005, 503)
            // 48 hours after the end are 47 after the signature; the clock is a minute later.
            world.clock.advance(seconds: 47 * 3600 - 61)
            try await check("certificate_just_expired", .retry, 21005, 503)
            world.clock.advance(seconds: 2)
            try await check("certificate_expired", .refused, 21003, 400)
            #expect(try await world.entitlements(of: "alice") == [])
        }
        let lines = log.lines.filter { $0.message.hasPrefix("evidence is signed under an authority") }
        // The drop-in and the ledger say it; the receipt's certificate and the notification's are two.
        #expect(lines.count == 3, "\(lines)")
        #expect(lines.allSatisfy { $0.facts["certificate"]?.contains(" or earlier for ") == true }, "\(lines)")
    }
}
