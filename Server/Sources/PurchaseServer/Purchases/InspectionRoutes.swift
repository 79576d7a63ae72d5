import Foundation
import Hummingbird
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// `POST /v1/inspect`: what evidence is, each check with its result, and the decoded content. It grants nothing and
/// writes nothing.
struct InspectionRoutes {
    let api: PurchaseAPIContext

    func add(to group: RouterGroup<ServerContext>) {
        // An inspection is made without the certificates that are known, so it costs more than a claim: not for keys on
        // devices.
        group.post("inspect") { request, context in
            let app = try context.requireCaller(.backend).app.id
            let ledger = api.ledger
            let answer = try await api.bodies.withBody(of: request) { body in
                let message = try await api.request(InspectionRequest.self, from: body)
                return try await api.verify {
                    try InspectionAnswer(ledger.inspect(Array((message.sent ?? "").utf8), app: app))
                }
            }
            context.facts.note(rejectedVerifications: answer.verdict == .verified ? 0 : 1)
            return try Response.json(answer)
        }
    }
}

extension InspectionAnswer {
    init(_ inspection: EvidenceInspection) throws {
        let failure = inspection.firstFailure
        let isComplete = inspection.checks.allSatisfy { if case .passed = $0.outcome { true } else { false } }
        self.init(
            evidence: inspection.evidence?.kind?.rawValue, encoding: inspection.evidence?.encoding.rawValue,
            verdict: isComplete ? .verified : .rejected, code: failure?.code.rawValue, detail: failure?.code.sentence,
            disposition: failure.map { PurchaseAPI.Disposition(rawValue: $0.code.disposition.rawValue) },
            checks: inspection.checks.map(InspectionCheck.init), signature: inspection.signature,
            certificates: inspection.certificates.map(InspectedCertificate.init),
            certificatePath: inspection.certificatePath, content: try inspection.content.flatMap(JSONContent.init))
    }
}

extension InspectionCheck {
    fileprivate init(_ check: EvidenceInspection.Check) {
        switch check.outcome {
        case .passed: self.init(name: check.name, outcome: .passed)
        case .notPossible: self.init(name: check.name, outcome: .notRun)
        case .failed(let error):
            self.init(
                name: check.name, outcome: .failed, code: error.code.rawValue, detail: error.code.sentence,
                expected: error.expected, found: error.found)
        }
    }
}

extension InspectedCertificate {
    fileprivate init(_ certificate: UnverifiedCertificate) {
        self.init(
            subject: certificate.subject, issuer: certificate.issuer, serialNumber: certificate.serialNumber,
            notBefore: "\(certificate.notBefore)", notAfter: "\(certificate.notAfter)",
            publicKey: certificate.publicKey, signatureAlgorithm: certificate.signatureAlgorithm)
    }
}

extension JSONContent {
    /// Receipts have the keys of `verifyReceipt`, signed data its claims.
    fileprivate init?(_ content: UnverifiedEvidence) throws {
        var json = JSONWriter()
        switch content {
        case .appReceipt(let receipt): VerifyReceiptResponse.Receipt(receipt, requestDate: nil).write(to: &json)
        case .transactionReceipt(let receipt, _): FlatReceipt(receipt).write(to: &json)
        case .signedTransaction, .signedRenewalInfo, .appTransaction, .notification, .realtimeRequest:
            guard let claims = content.claims else { return nil }
            self = .object(claims.mapValues(JSONContent.init))
            return
        }
        self = try JSONDecoder().decode(JSONContent.self, from: Data(json.bytes))
    }

    private init(_ value: JSONValue) {
        self =
            switch value {
            case .null: .null
            case .boolean(let value): .boolean(value)
            case .integer(let value): .integer(value)
            case .number(let value): .number(value)
            case .string(let value): .text(value)
            case .array(let values): .list(values.map(JSONContent.init))
            case .object(let members): .object(members.mapValues(JSONContent.init))
            }
    }
}
