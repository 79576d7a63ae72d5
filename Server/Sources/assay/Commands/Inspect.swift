import ArgumentParser
import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TextFormats

/// `assay inspect`: the content of evidence, and the result of each check.
struct Inspect: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the content of a receipt or signed data and the result of each check. It verifies nothing.",
        discussion: "Exit status: 0 every check passed, 1 some did not, 2 wrong usage or unreadable input.")

    @Argument(help: ArgumentHelp("The evidence to show; '-' is standard input.", valueName: "file")) var file: String
    @OptionGroup var options: VerificationOptions
    @Flag(help: "Hide personal identifiers: transaction and order numbers, device and account data.") var redact = false
    @Flag(help: "Print one JSON object.") var json = false

    func run() throws {
        let verifier = try options.verifier()
        var reader = EvidenceReader([file])
        let first = reader.next()
        if let error = reader.errors.first { throw error }
        guard let item = first else { throw InputError(file, "holds nothing") }
        guard reader.next() == nil else {
            throw ValidationError("'\(file)' holds several receipts; 'assay verify' takes streams.")
        }
        let inspection = verifier.inspect(item.evidence(), policies: options.policies())
        let report = InspectionReport(
            inspection, source: file, unchecked: options.uncheckedDemands, redactor: Redactor(isActive: redact))
        Terminal.write(json ? report.json() : report.text())
        if inspection.firstFailure != nil { throw ExitCode.rejected }
    }
}

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
            json.member("source", source)
            json.member("evidence", inspection.evidence?.kind?.rawValue)
            json.member("encoding", inspection.evidence?.encoding.rawValue)
            json.member("signature", inspection.signature)
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
            json.member("check", check.name)
            json.key("outcome")
            switch check.outcome {
            case .passed: json.string("passed")
            case .notPossible: json.string("not_run")
            case .failed(let error):
                json.string("failed")
                json.member("code", error.code.rawValue)
                json.member("expected", error.expected.map { shown($0, error) })
                json.member("found", error.found.map { shown($0, error) })
            }
        }
    }

    private func write(_ certificate: UnverifiedCertificate, to json: inout JSONWriter) {
        json.object { json in
            json.member("subject", certificate.subject)
            json.member("issuer", certificate.issuer)
            json.member("serial_number", certificate.serialNumber)
            json.member("not_before", "\(certificate.notBefore)")
            json.member("not_after", "\(certificate.notAfter)")
            json.member("public_key", certificate.publicKey)
            json.member("signature_algorithm", certificate.signatureAlgorithm)
        }
    }

    private func write(_ attribute: ReceiptAttribute, to json: inout JSONWriter) {
        json.object { json in
            json.member("type", attribute.type)
            json.member("version", attribute.version)
            json.member("meaning", ReceiptAttributeName.name(attribute.type))
            json.member("value", redactor.value(of: attribute, value(attribute)))
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

extension InspectionReport {
    /// A key of a transaction receipt, or a claim.
    typealias Claim = (name: [UInt8], value: String)

    /// The keys of a transaction receipt, or the claims of signed data.
    func flatContent() -> String {
        var text = ""
        switch inspection.content {
        case .transactionReceipt(let receipt, let unsigned):
            text += "\nPurchase info (read, not vouched for)\n" + table(Self.claims(receipt.attributes))
            text += "\nBeside it, signed by nobody\n" + table(Self.claims(unsigned))
        case .signedTransaction, .signedRenewalInfo, .appTransaction, .notification, .realtimeRequest:
            text += "\nClaims (read, not vouched for)\n" + table(claims)
        case .appReceipt, nil: break
        }
        return text
    }

    func writeFlatContent(to json: inout JSONWriter) {
        let members: [Claim]
        switch inspection.content {
        case .transactionReceipt(let receipt, _): members = Self.claims(receipt.attributes)
        case .signedTransaction, .signedRenewalInfo, .appTransaction, .notification, .realtimeRequest: members = claims
        case .appReceipt, nil: return
        }
        json.key("unverified_claims")
        json.object { json in
            for member in members {
                json.key(String(decoding: member.name, as: UTF8.self))
                json.string(redactor.value(of: member))
            }
        }
    }

    private func table(_ members: [Claim]) -> String {
        var table = TextTable(["name", "value"])
        for member in members {
            table.append([String(decoding: member.name, as: UTF8.self).printable, redactor.value(of: member).printable])
        }
        return table.text(indent: 2)
    }

    private static func claims(_ attributes: [(key: String, value: String)]) -> [Claim] {
        attributes.map { (Array($0.key.utf8), $0.value) }
    }

    /// The claims in their order, with those of a nested object under both names joined by a dot. Deeper objects stay
    /// together: a name for each would repeat all names above it.
    private var claims: [Claim] {
        guard let payload = inspection.content?.payload, let json = WrittenJSON.bounded(payload) else {
            return []
        }
        return Self.flattened(json, 0, prefix: [], levels: 2)
    }

    private static func flattened(_ json: WrittenJSON, _ value: Int, prefix: [UInt8], levels: Int) -> [Claim] {
        guard levels > 0, json.nodes[value].kind == .object else {
            return [(prefix, text(json, value, isDate: prefix.suffix(4).elementsEqual("Date".utf8)))]
        }
        return json.members(of: value).flatMap { member in
            let name = json.text(of: member.name)
            return flattened(
                json, member.value, prefix: prefix.isEmpty ? name : prefix + [UInt8(ascii: ".")] + name,
                levels: levels - 1)
        }
    }

    private static func text(_ json: WrittenJSON, _ value: Int, isDate: Bool) -> String {
        let text = String(decoding: json.text(of: value), as: UTF8.self)
        switch json.nodes[value].kind {
        case .number where isDate && text.utf8.count <= 32:
            guard let milliseconds = Double(text), abs(milliseconds) < 1e15 else { return text }
            return "\(AppStoreTime(millisecondsSince1970: Int64(milliseconds)))"
        case .string, .number, .word: return text
        case .object, .array:
            var writer = JSONWriter(capacity: 64)
            json.write(value, to: &writer)
            return String(decoding: writer.bytes, as: UTF8.self)
        }
    }
}
