import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TextFormats

/// The result of `inspect`, for people or as JSON.
struct InspectionReport {
    let inspection: EvidenceInspection
    private let source: String
    private let unchecked: [String]
    let redactor: Redactor

    init(_ inspection: EvidenceInspection, source: String, unchecked: [String], redactor: Redactor) {
        self.inspection = inspection
        self.source = source
        self.unchecked = unchecked
        self.redactor = redactor
    }

    /// The text of an inspection in the console, without identifiers.
    static func redacted(_ inspection: EvidenceInspection) -> String {
        InspectionReport(
            inspection, source: "evidence from the console", unchecked: [], redactor: Redactor(isActive: true)
        ).text()
    }

    /// Sections of text: evidence, checks, certificates, attributes, purchases.
    func text() -> String {
        var text = "\(source.printable)\n\nEvidence\n"
        if let evidence = inspection.evidence {
            text +=
                "  \(evidence.kind.map(\.words) ?? "signed data (JWS) of no known kind"), \(evidence.encoding.rawValue)"
            text += inspection.containerBytes.map { ", \(counted($0, "byte"))\n" } ?? "\n"
        } else {
            text += "  not recognised\n"
        }
        if let signature = inspection.signature { text += "  signed with \(signature.printable)\n" }
        text += "\nChecks\n" + inspection.checks.map(line).joined()
        if !unchecked.isEmpty { text += "  not made  \(unchecked.joined(separator: ", "))\n" }
        text += certificates()
        text += flatContent()
        if let receipt = inspection.receipt {
            text += "\nAttributes (read, not vouched for)\n" + attributes(receipt.attributes.filter { $0.type != 17 })
            for (index, purchase) in receipt.inAppPurchases.enumerated() {
                text += "\nPurchase \(index + 1) of \(receipt.inAppPurchases.count)\n" + attributes(purchase.attributes)
            }
        }
        let failure = inspection.firstFailure
        let advice = inspection.adviceForXcode.map { "It is of Xcode: \($0).\n" } ?? ""
        let conclusion = failure.map { "REJECTED: \($0.code.rawValue). \($0.code.sentence)\n\(advice)" }
        return text + "\n" + (conclusion ?? "Every check passed.\n")
    }

    private func line(_ check: EvidenceInspection.Check) -> String {
        switch check.outcome {
        case .passed: return "  passed    \(check.name)\n"
        case .notPossible: return "  not run   \(check.name)\n"
        case .failed(let error):
            var text = "  FAILED    \(check.name): \(error.code.rawValue)\n"
            text += "            \(error.code.sentence)\n"
            if let expected = error.expected { text += "            expected: \(shown(expected, error))\n" }
            if let found = error.found { text += "            found:    \(shown(found, error))\n" }
            return text
        }
    }

    /// The two facts of a device hash identify the device, and a malformed attribute may hold anything.
    private func shown(_ fact: String, _ error: VerificationError) -> String {
        switch error.code {
        case .deviceHashMismatch, .attributeMalformed: redactor.identifier(fact.printable)
        default: fact.printable
        }
    }

    private func certificates() -> String {
        guard !inspection.certificates.isEmpty else { return "" }
        var text = "\nCertificates in the container\n"
        for certificate in inspection.certificates {
            text += "  \(certificate.subject.printable)\n"
            text += "    issued by \(certificate.issuer.printable)\n"
            text += "    serial \(certificate.serialNumber), \(certificate.notBefore) to \(certificate.notAfter)\n"
            text += "    \(certificate.publicKey.printable), signed with \(certificate.signatureAlgorithm.printable)\n"
            if certificate.hasReceiptSigningMarker { text += "    marker: signs App Store receipts\n" }
            if certificate.hasDeveloperRelationsMarker { text += "    marker: developer relations authority\n" }
        }
        guard !inspection.certificatePath.isEmpty else { return text }
        text += "\nCertificate path, from the signer to the anchor\n"
        return text + inspection.certificatePath.map { "  \($0.printable)\n" }.joined()
    }

    private func attributes(_ attributes: [ReceiptAttribute]) -> String {
        var table = TextTable(["type", "version", "meaning", "value"])
        for attribute in attributes.sorted(by: { $0.type < $1.type }) {
            table.append([
                "\(attribute.type)", "\(attribute.version)", ReceiptAttributeName.name(attribute.type),
                redactor.value(of: attribute, value(attribute)),
            ])
        }
        return table.text(indent: 2)
    }

    private func value(_ attribute: ReceiptAttribute) -> String {
        switch attribute.content {
        case .text(let text): return text.isEmpty ? "(empty)" : text.printable
        case .number(let number):
            let meaning = ReceiptAttributeName.meaning(attribute.type, number)
            return meaning.map { "\(number) (\($0.printable))" } ?? "\(number)"
        case .bytes(let bytes):
            return bytes.hexadecimal
        }
    }

    /// The same as one JSON object.
    func json() -> String {
        var json = JSONWriter()
        json.object { json in
            json.key("source")
            json.string(source)
            json.key("evidence")
            json.optional(inspection.evidence?.kind?.rawValue)
            json.key("encoding")
            json.optional(inspection.evidence?.encoding.rawValue)
            json.key("signature")
            json.optional(inspection.signature)
            json.key("checks")
            json.array(inspection.checks) { json, check in write(check, to: &json) }
            json.key("certificates")
            json.array(inspection.certificates) { json, certificate in write(certificate, to: &json) }
            json.key("certificate_path")
            json.array(inspection.certificatePath) { $0.string($1) }
            json.key("unverified_attributes")
            json.array(inspection.receipt?.attributes.filter { $0.type != 17 } ?? []) { write($1, to: &$0) }
            json.key("unverified_purchases")
            json.array(inspection.receipt.map { Array($0.inAppPurchases) } ?? []) { json, purchase in
                json.array(purchase.attributes) { write($1, to: &$0) }
            }
            writeFlatContent(to: &json)
        }
        return String(decoding: VisibleText.inJSON(json.bytes), as: UTF8.self) + "\n"
    }

    private func write(_ check: EvidenceInspection.Check, to json: inout JSONWriter) {
        json.object { json in
            json.key("check")
            json.string(check.name)
            json.key("outcome")
            switch check.outcome {
            case .passed: json.string("passed")
            case .notPossible: json.string("not_run")
            case .failed(let error):
                json.string("failed")
                json.key("code")
                json.string(error.code.rawValue)
                json.key("expected")
                json.optional(error.expected.map { shown($0, error) })
                json.key("found")
                json.optional(error.found.map { shown($0, error) })
            }
        }
    }

    private func write(_ certificate: UnverifiedCertificate, to json: inout JSONWriter) {
        json.object { json in
            json.key("subject")
            json.string(certificate.subject)
            json.key("issuer")
            json.string(certificate.issuer)
            json.key("serial_number")
            json.string(certificate.serialNumber)
            json.key("not_before")
            json.string("\(certificate.notBefore)")
            json.key("not_after")
            json.string("\(certificate.notAfter)")
            json.key("public_key")
            json.string(certificate.publicKey)
            json.key("signature_algorithm")
            json.string(certificate.signatureAlgorithm)
        }
    }

    private func write(_ attribute: ReceiptAttribute, to json: inout JSONWriter) {
        json.object { json in
            json.key("type")
            json.number(attribute.type)
            json.key("version")
            json.number(attribute.version)
            json.key("meaning")
            json.string(ReceiptAttributeName.name(attribute.type))
            json.key("value")
            json.string(redactor.value(of: attribute, value(attribute)))
        }
    }
}

extension EvidenceKind {
    /// The kind in words.
    fileprivate var words: String {
        switch self {
        case .appReceipt: "app receipt (PKCS#7)"
        case .transactionReceipt: "transaction receipt (iOS 6 and earlier)"
        case .signedTransaction: "signed transaction of StoreKit 2 (JWS)"
        case .signedRenewalInfo: "signed renewal info of StoreKit 2 (JWS)"
        case .appTransaction: "app transaction of StoreKit 2 (JWS)"
        case .notification: "server notification, version 2 (JWS)"
        case .realtimeRequest: "realtime request of the Retention Messaging API (JWS)"
        }
    }
}
