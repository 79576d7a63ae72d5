import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseVerification

extension EvidenceInspection {
    /// The content, if it is an app receipt's.
    var receipt: UnverifiedAppReceipt? {
        if case .appReceipt(let receipt) = content { receipt } else { nil }
    }

    /// What to do about evidence of Xcode, which is refused unless its certificate is named; `nil` for other evidence.
    var adviceForXcode: String? {
        var isOfXcode = receipt?.environment == .xcode
        if case .string("Xcode")? = content?.claims?["environment"] { isOfXcode = true }
        return isOfXcode ? "--trust CERTIFICATE --environment Xcode, with the certificate that Xcode saves" : nil
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
