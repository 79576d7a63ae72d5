import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport

/// Faults of a property list of the old style, once in the outer list and once in the signed one; and the allowed keys
/// of the outer list.
enum PropertyListCounterExamples {
    static let all: [CounterExample] = inEitherList + outer

    private static let inEitherList: [CounterExample] = grammar.flatMap { rule -> [CounterExample] in
        [
            .outerList(rule.code, rule.fault, rule.change), .purchaseInfo(rule.code, rule.fault, rule.change),
        ]
    }

    private struct Rule: Sendable {
        let code: ReasonCode
        let fault: String
        let change: @Sendable (String) -> String

        init(
            _ fault: String, _ code: ReasonCode = .propertyListMalformed,
            _ change: @escaping @Sendable (String) -> String
        ) {
            self.code = code
            self.fault = fault
            self.change = change
        }

        /// One more entry, last.
        init(_ fault: String, _ code: ReasonCode = .propertyListMalformed, entry: String) {
            self.init(fault, code) { $0.dropLast() + "\t" + entry + "\n}" }
        }
    }

    private static let grammar: [Rule] = [
        Rule("a list as a value", entry: #""more" = ( "a", "b" );"#),
        Rule("a dictionary as a value", entry: #""more" = { "a" = "b"; };"#),
        Rule("data as a value", entry: #""more" = <00ff>;"#),
        Rule("an unquoted value", entry: #""more" = sandbox;"#),
        Rule("an unquoted key", entry: #"more = "sandbox";"#),
        Rule("single quotes", entry: #"'more' = 'sandbox';"#),
        Rule("a comment of several lines", entry: #"/* more */ "more" = "a";"#),
        Rule("a comment of one line", entry: "// more\n\t\"more\" = \"a\";"),
        Rule("no equals sign", entry: #""more" "a";"#),
        Rule("a colon for the equals sign", entry: #""more": "a";"#),
        Rule("no semicolon", entry: #""more" = "a""#),
        Rule("a comma for the semicolon", entry: #""more" = "a","#),
        Rule("two semicolons", entry: #""more" = "a";;"#),
        Rule("a key without a value", entry: #""more";"#),
        Rule("two values", entry: #""more" = "a" "b";"#),
        Rule("an unknown escape", entry: #""more" = "\x41";"#),
        Rule("an octal escape", entry: #""more" = "\101";"#),
        Rule("a small u escape", entry: #""more" = "\u0041";"#),
        Rule("an escape of three digits", entry: #""more" = "\U041";"#),
        Rule("an escape of no hexadecimal digits", entry: #""more" = "\U00G1";"#),
        Rule("an escape before the end", entry: #""more" = "a\"#),
        Rule("a line break in a string", entry: "\"more\" = \"a\nb\";"),
        Rule("a tab in a string", entry: "\"more\" = \"a\tb\";"),
        Rule("a zero byte in a string", entry: "\"more\" = \"a\u{0}b\";"),
        Rule("a DEL in a key", entry: "\"mo\u{7F}re\" = \"a\";"),
        Rule("a zero byte between entries", entry: "\u{0}\"more\" = \"a\";"),
        Rule("a space that is not ASCII", entry: "\u{A0}\"more\" = \"a\";"),
        Rule("a key with an escape", entry: #""mo\U0072e" = "a";"#),
        Rule("a key with a quote in it", entry: #""mo\"re" = "a";"#),
        Rule("a key that is not ASCII", entry: "\"e\u{301}\" = \"a\";"),
        Rule("a key of 65 bytes", entry: "\"\(String(repeating: "k", count: 65))\" = \"a\";"),
        Rule("no closing quote", entry: #""more" = "a;"#),
        Rule("no closing brace") { String($0.dropLast()) },
        Rule("65 keys") { text in
            text.dropLast() + (0..<65).map { "\"k\($0)\" = \"\";\n" }.joined() + "}"
        },
        Rule("nothing but an opening brace") { _ in "{" },
        Rule("a key twice with one value", .propertyListKeyDuplicated) { text in
            let entry = text.split(separator: "\n").first { $0.hasSuffix("\";") } ?? ""
            return text.dropLast() + entry + "\n}"
        },
        Rule("an unknown key twice", .propertyListKeyDuplicated, entry: #""more" = "a"; "more" = "b";"#),
        Rule("a second list behind it", .trailingBytes) { $0 + " " + $0 },
        Rule("a second closing brace", .trailingBytes) { $0 + "}" },
        Rule("a semicolon behind it", .trailingBytes) { $0 + ";" },
    ]

    private static let outer: [CounterExample] = [
        .outerList(.transactionReceiptFieldMissing, "an empty list") { _ in "{}" },
        .outerList(.transactionReceiptFieldUnknown, "a key that no receipt has") {
            $0.dropLast() + "\"receipt\" = \"\";\n}"
        },
        .outerList(.transactionReceiptFieldUnknown, "a key of purchase-info") {
            $0.dropLast() + "\"product-id\" = \"com.example.app.pro\";\n}"
        },
        .outerList(.transactionReceiptFieldUnknown, "an empty key") { $0.dropLast() + "\"\" = \"\";\n}" },
        .outerList(.transactionReceiptFieldUnknown, "a known key in capitals") {
            $0.replacingOccurrences(of: "\"pod\"", with: "\"POD\"")
        },
        .outerList(.propertyListMalformed, "a second spelling of a known key") {
            $0.replacingOccurrences(of: "\"purchase-info\"", with: #""purchase\U002dinfo""#)
        },
        .outerList(.propertyListMalformed, "a known key, and a second spelling of it") {
            $0.dropLast() + #""environmen\U0074" = "Production";}"#
        },
        .outerList(.propertyListMalformed, "JSON") { _ in #"{"signature":"AAAA","purchase-info":"AAAA"}"# },
        .outerList(.purchaseInfoMalformed, "a purchase-info that is no base64") {
            $0.replacingOccurrences(of: "\"purchase-info\" = \"", with: "\"purchase-info\" = \"*")
        },
        .outerList(.purchaseInfoMalformed, "an empty purchase-info") { text in
            text.split(separator: "\n").map { $0.contains("purchase-info") ? "\"purchase-info\" = \"\";" : $0 }
                .joined(separator: "\n")
        },
        .outerList(.signatureFieldMalformed, "a signature that is no base64") {
            $0.replacingOccurrences(of: "\"signature\" = \"", with: "\"signature\" = \"*")
        },
        .outerList(.signatureFieldMalformed, "an empty signature") { text in
            text.split(separator: "\n").map { $0.contains("\"signature\"") ? "\"signature\" = \"\";" : $0 }
                .joined(separator: "\n")
        },
        .evidence(.propertyListMalformed, "a key that is no UTF-8") {
            var bytes = try HandmadeTransactionReceipt(.three).bytes()
            bytes.removeLast()
            return bytes + [0x22, 0xC3, 0x28, 0x22] + Array(" = \"\";}".utf8)
        },
        .evidence(.propertyListMalformed, "a header of signed data, without a dot") {
            Array(HandmadeJWS.base64URL(Array(try HandmadeJWS.header().utf8)).utf8)
        },
        .evidence(.trailingBytes, "a line break behind the signed list") {
            var receipt = try HandmadeTransactionReceipt(.three)
            receipt.purchaseInfo.append(0x0A)
            return try receipt.bytes()
        },
        .evidence(.propertyListMalformed, "a byte order mark before the signed list") {
            var receipt = try HandmadeTransactionReceipt(.three)
            receipt.purchaseInfo = [0xEF, 0xBB, 0xBF] + receipt.purchaseInfo
            return try receipt.bytes()
        },
        .evidence(.propertyListMalformed, "a product in UTF-8 that is none") {
            var receipt = try HandmadeTransactionReceipt(.three)
            receipt.purchaseInfo =
                receipt.purchaseInfo.dropLast() + [0x22, 0x61, 0x22, 0x3D, 0x22, 0xFF, 0x22, 0x3B, 0x7D]
            return try receipt.bytes()
        },
    ]
}
