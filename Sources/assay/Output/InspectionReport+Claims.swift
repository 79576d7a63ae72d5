import Foundation
import PurchaseAPI
import PurchaseVerification

extension EvidenceInspection {
    /// The content, if it is an app receipt's.
    var receipt: UnverifiedAppReceipt? {
        if case .appReceipt(let receipt) = content { receipt } else { nil }
    }
}

extension InspectionReport {
    /// The keys of a transaction receipt, or the claims of signed data.
    func flatContent() -> String {
        var text = ""
        switch inspection.content {
        case .transactionReceipt(let receipt, let unsigned):
            text += "\nPurchase info (read, not vouched for)\n" + table(receipt.attributes)
            text += "\nBeside it, signed by nobody\n" + table(unsigned)
        case .signedTransaction, .signedRenewalInfo, .appTransaction, .notification:
            text += "\nClaims (read, not vouched for)\n" + table(claims)
        case .appReceipt, nil: break
        }
        return text
    }

    func writeFlatContent(to json: inout JSONWriter) {
        let members: [(key: String, value: String)]
        switch inspection.content {
        case .transactionReceipt(let receipt, _): members = receipt.attributes
        case .signedTransaction, .signedRenewalInfo, .appTransaction, .notification: members = claims
        case .appReceipt, nil: return
        }
        json.key("unverified_claims")
        json.object { json in
            for member in members {
                json.key(member.key)
                json.string(shown(member))
            }
        }
    }

    private func table(_ members: [(key: String, value: String)]) -> String {
        var table = TextTable(["name", "value"])
        for member in members {
            // Signed data inside is long, and says nothing to people.
            let value = shown(member).printable
            table.append([member.key.printable, value.count > 160 ? value.prefix(120) + "…" : value])
        }
        return table.text(indent: 2)
    }

    private func shown(_ member: (key: String, value: String)) -> String {
        Redactor.identifyingClaims.contains(member.key) ? redactor.identifier(member.value) : member.value
    }

    /// The claims by name, those of objects inside with a dot.
    private var claims: [(key: String, value: String)] {
        guard let payload = inspection.content?.payload else { return [] }
        do {
            let object = try JSONSerialization.jsonObject(with: Data(payload))
            return Self.flattened(object, prefix: "")
        } catch {
            // The core has read the same bytes as JSON.
            return []
        }
    }

    private static func flattened(_ value: Any, prefix: String) -> [(key: String, value: String)] {
        guard let object = value as? [String: Any] else {
            return [(prefix, text(value, isDate: prefix.hasSuffix("Date")))]
        }
        return object.sorted { $0.key < $1.key }.flatMap { key, value in
            flattened(value, prefix: prefix.isEmpty ? key : "\(prefix).\(key)")
        }
    }

    private static func text(_ value: Any, isDate: Bool) -> String {
        if isDate, let milliseconds = value as? Double, abs(milliseconds) < 1e15 {
            return "\(Timestamp(millisecondsSince1970: Int64(milliseconds)))"
        }
        return "\(value)"
    }
}
