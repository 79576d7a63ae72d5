import EvidenceMint
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
            table.append([member.key.printable, shown(member).printable])
        }
        return table.text(indent: 2)
    }

    private func shown(_ member: (key: String, value: String)) -> String {
        Redactor.identifyingClaims.contains(member.key) ? redactor.identifier(member.value) : member.value
    }

    /// The claims by name, those of an object inside with a dot. What is deeper stays together: a name for each would repeat
    /// all names above it.
    private var claims: [(key: String, value: String)] {
        guard let payload = inspection.content?.payload else { return [] }
        do {
            let object = try JSONSerialization.jsonObject(with: Data(payload))
            return Self.flattened(object, prefix: "", levels: 2)
        } catch {
            // The core has read the same bytes as JSON.
            return []
        }
    }

    private static func flattened(
        _ value: Any, prefix: String, levels: Int
    ) -> [(key: String, value: String)] {
        guard levels > 0, let object = value as? [String: Any] else {
            return [(prefix, text(value, isDate: prefix.hasSuffix("Date")))]
        }
        return object.sorted { $0.key < $1.key }.flatMap { key, value in
            flattened(value, prefix: prefix.isEmpty ? key : "\(prefix).\(key)", levels: levels - 1)
        }
    }

    private static func text(_ value: Any, isDate: Bool) -> String {
        if isDate, let milliseconds = value as? Double, abs(milliseconds) < 1e15 {
            return "\(Timestamp(millisecondsSince1970: Int64(milliseconds)))"
        }
        if value is NSNull { return "null" }
        // JSON's `true` and `false` come as numbers.
        if let number = value as? NSNumber, String(cString: number.objCType) == "c" { return "\(number.boolValue)" }
        guard value is [Any] || value is [String: Any] else { return "\(value)" }
        do {
            let json = try JSONSerialization.data(
                withJSONObject: value, options: [.sortedKeys, .withoutEscapingSlashes])
            return String(decoding: json, as: UTF8.self)
        } catch {
            // It was JSON a moment ago.
            return "\(value)"
        }
    }
}
