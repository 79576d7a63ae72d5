import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TestSupport
import Testing

/// `POST /v1/inspect`.
@Suite("Inspection", .server)
struct InspectionRouteTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    private static func inspect(
        _ request: InspectionRequest, _ world: PurchaseServerWorld
    ) async throws -> InspectionAnswer {
        let answer = try await world.send(.post, "/v1/inspect", request, as: .backend)
        #expect(answer.status == 200, "\(answer.text)")
        return try answer.message(InspectionAnswer.self)
    }

    @Test("E.2 Evidence of every kind is decoded, under each of the three names, and every check is listed")
    func kinds() async throws {
        let receipt = Data(try MintedWorld.mint()).base64EncodedString()
        for request in [
            InspectionRequest(evidence: receipt), InspectionRequest(receiptData: receipt),
            InspectionRequest(signedTransaction: receipt),
        ] {
            let answer = try await Self.inspect(request, world)
            #expect(answer.evidence == "app_receipt" && answer.encoding == "base64")
            #expect(answer.verdict == .verified && answer.code == nil)
            #expect(answer.checks.allSatisfy { $0.outcome == .passed } && answer.checks.count > 6)
            #expect(answer.certificates.count == 3 && answer.certificatePath.count == 3)
            #expect(answer.content?["bundle_id"] == .text("com.example.app"))
            guard case .list(let purchases) = answer.content?["in_app"] else {
                Issue.record("no purchases: \(answer)")
                continue
            }
            #expect(purchases.count == 3)
        }
        let old = try MintedWorld.mint(MintedWorld.transactionReceipt(), .four)
        let flat = try await Self.inspect(InspectionRequest(evidence: Data(old).base64EncodedString()), world)
        #expect(flat.evidence == "transaction_receipt" && flat.verdict == .verified)
        #expect(flat.content?["product_id"] == .text("com.example.app.monthly"))
        var templates: [(any SignedPayloadTemplate, String)] = [
            (MintedWorld.transaction(), "signed_transaction"), (MintedWorld.renewalInfo(), "signed_renewal_info"),
            (MintedWorld.appTransaction(), "app_transaction"), (MintedWorld.notification(), "notification"),
        ]
        templates.append(
            (
                RealtimeRequestTemplate(
                    originalTransactionID: "2000000000000003", productID: "com.example.app.monthly",
                    environment: "Sandbox", signedDate: MintedWorld.moment), "realtime_request"
            ))
        for (template, kind) in templates {
            let jws = String(decoding: try MintedWorld.mint(template), as: UTF8.self)
            let answer = try await Self.inspect(InspectionRequest(evidence: jws), world)
            #expect(answer.evidence == kind && answer.verdict == .verified, "\(kind): \(answer)")
            #expect(answer.content?["signedDate"] != nil || answer.content?["receiptCreationDate"] != nil)
        }
    }

    @Test("E.2 Rejected evidence has the code of a claim, its disposition, and the checks that could still be made")
    func rejected() async throws {
        var other = MintedWorld.receipt()
        other.bundleID = "com.example.other"
        let cases: [([UInt8], ReasonCode)] = [
            (try MintedWorld.mint(fault: .flippedSignatureByte), .signatureInvalid),
            (try MintedWorld.mint(fault: .wrongRoot), .issuerUnknown),
            (Array(try MintedWorld.mint().prefix(1000)), .asn1Truncated),
            (try MintedWorld.mint(other), .bundleIDMismatch), ([], .evidenceEmpty),
        ]
        for (bytes, code) in cases {
            let text = Data(bytes).base64EncodedString()
            let answer = try await Self.inspect(InspectionRequest(evidence: text), world)
            #expect(answer.verdict == .rejected && answer.code == code.rawValue, "\(code): \(answer)")
            #expect(answer.disposition?.rawValue == code.disposition.rawValue)
            let failed = try #require(answer.checks.first { $0.outcome == .failed })
            #expect(failed.code == code.rawValue && failed.detail == code.sentence)
        }
        let forged = Data(try MintedWorld.mint(fault: .flippedSignatureByte)).base64EncodedString()
        let answer = try await Self.inspect(InspectionRequest(evidence: forged), world)
        #expect(answer.content?["bundle_id"] == .text("com.example.app"), "content is shown, and not vouched for")
    }

    @Test("E.2 An inspection grants nothing and writes nothing")
    func nothing() async throws {
        let receipt = Data(try MintedWorld.mint()).base64EncodedString()
        let signed = try PurchaseServerWorld.signed("12").jws
        for evidence in [receipt, signed, "garbage"] {
            _ = try await Self.inspect(InspectionRequest(evidence: evidence), world)
        }
        #expect(try await world.submissions().isEmpty)
        #expect(try await world.send(.get, "/v1/purchases/12", as: .backend).status == 404)
        #expect(try await world.entitlements(of: "alice").isEmpty)
        // The evidence is still claimable afterwards.
        let claim = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase())
        #expect(claim.status == 200)
    }

    @Test("E.2 It needs a key of the scope backend, and exactly one piece of evidence")
    func access() async throws {
        let request = InspectionRequest(evidence: "x")
        #expect(try await world.send(.post, "/v1/inspect", request, as: nil).status == 401)
        #expect(try await world.send(.post, "/v1/inspect", request, as: .client).problem == "scope_insufficient")
        #expect(try await world.send(.post, "/v1/inspect", request, as: .admin).status == 200)
        for (body, code, expected) in [
            ("{}", "field_missing", "evidence, receipt_data, signed_transaction"),
            (#"{"evidence":"a","receipt_data":"b"}"#, "field_malformed", "evidence"),
            (#"{"receipt":"a"}"#, "field_missing", "evidence"), (#"{"evidence":5}"#, "field_malformed", "evidence"),
            ("[]", "body_malformed", "a JSON object"),
        ] {
            let answer = try await world.send(.post, "/v1/inspect", data: Data(body.utf8), as: .backend)
            #expect(answer.status == 400, "\(body)")
            #expect(try answer.problem == code, "\(answer.text)")
            #expect(try answer.document?.expected?.contains(expected) == true, "\(answer.text)")
        }
    }
}
