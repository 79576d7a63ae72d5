import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport

/// Faults of the signed purchase info of a transaction receipt.
enum PurchaseInfoCounterExamples {
    static let all: [CounterExample] = dates + numbers + identifiers

    /// Replaces the value of a key; `nil` removes the entry.
    private static func setting(_ values: [String: String?]) -> @Sendable (String) -> String {
        { text in
            text.split(separator: "\n").compactMap { line -> String? in
                for (key, value) in values where line.hasPrefix("\t\"\(key)\" = ") {
                    return value.map { "\t\"\(key)\" = \"\($0)\";" }
                }
                return String(line)
            }.joined(separator: "\n")
        }
    }

    /// A date that is written twice, and the faults of either.
    private static func date(_ words: String, _ milliseconds: String) -> [CounterExample] {
        let wrongWords = [
            "2023-11-14 22:13:21 Etc/GMT", "2024-02-30 12:00:00 Etc/GMT", "2023-11-14 22:13:20 America/Los_Angeles",
            "2023-11-14 22:13:20", "2023-11-14T22:13:20Z", "2023-11-14T22:13:20 Etc/GMT", "2023-11-14 24:13:20 Etc/GMT",
        ]
        let wrongMilliseconds = [
            "1700000001000", "soon", "-1", "253402300800000", "00000001700000000000", "1700000000000.0",
        ]
        return wrongWords.map { value -> CounterExample in
            .purchaseInfo(.purchaseInfoMalformed, "\(words) as '\(value)'", setting([words: value]))
        }
            + wrongMilliseconds.map { value -> CounterExample in
                .purchaseInfo(.purchaseInfoMalformed, "\(milliseconds) as '\(value)'", setting([milliseconds: value]))
            }
    }

    private static let dates: [CounterExample] =
        date("purchase-date", "purchase-date-ms") + date("original-purchase-date", "original-purchase-date-ms")
        + date("expires-date-formatted", "expires-date") + otherDates

    private static let otherDates: [CounterExample] = [
        .purchaseInfo(.purchaseInfoMalformed, "a cancellation date that contradicts itself") { text in
            text.dropLast() + "\t\"cancellation-date\" = \"2023-11-14 22:13:20 Etc/GMT\";\n"
                + "\t\"cancellation-date-ms\" = \"1700000005000\";\n}"
        },
        .purchaseInfo(.purchaseInfoMalformed, "a cancellation date that is none") {
            $0.dropLast() + "\t\"cancellation-date\" = \"never\";\n}"
        },
        .purchaseInfo(
            .creationDateMissing, "empty purchase dates", setting(["purchase-date": "", "purchase-date-ms": ""])),
        .purchaseInfo(
            .creationDateMissing, "a purchase date in Los Angeles alone",
            setting(["purchase-date": nil, "purchase-date-ms": nil])),
        .purchaseInfo(
            .creationDateMissing, "purchase dates that are none",
            setting(["purchase-date": "today", "purchase-date-ms": "now"])),
        .purchaseInfo(
            .certificateNotYetValid, "a purchase date in seconds", setting(["purchase-date-ms": "1700000000"])),
        .purchaseInfo(
            .purchaseInfoMalformed, "an original purchase date in seconds",
            setting(["original-purchase-date-ms": "1700000000"])),
        .purchaseInfo(.creationDateMissing, "an empty list") { _ in "{}" },
    ]

    private static let numbers: [CounterExample] = ["one", "-1", "+1", "1.0", "", " 1", "0x1", "12345678901234567890"]
        .map { (quantity: String) -> CounterExample in
            .purchaseInfo(.purchaseInfoMalformed, "the quantity '\(quantity)'", setting(["quantity": quantity]))
        }

    private static let identifiers: [CounterExample] = [
        .purchaseInfo(.attributeMissing, "no transaction id", version: .two, setting(["transaction-id": nil])),
        .purchaseInfo(.attributeMissing, "an empty transaction id", version: .three, setting(["transaction-id": ""])),
        .purchaseInfo(.attributeMissing, "no product id", version: .two, setting(["product-id": nil])),
        .purchaseInfo(.attributeMissing, "an empty product id", version: .three, setting(["product-id": ""])),
        .purchaseInfo(
            .attributeMissing, "no bundle id where one is wanted", policies: [BundleIDPolicy("com.example.app")],
            setting(["bid": nil])),
        .purchaseInfo(
            .bundleIDMismatch, "an empty bundle id where one is wanted", policies: [BundleIDPolicy("com.example.app")],
            setting(["bid": ""])),
        .purchaseInfo(
            .attributeMissing, "no version where one is wanted", policies: [ApplicationVersionPolicy("7")],
            setting(["bvrs": nil])),
        .evidence(.signatureInvalid, "purchase info edited after it was signed") {
            let receipt = try HandmadeTransactionReceipt(.two)
            var other = receipt
            let text = String(decoding: receipt.purchaseInfo, as: UTF8.self)
            other.purchaseInfo = Array(text.replacingOccurrences(of: "monthly", with: "yearly").utf8)
            return other.bytes(signatureField: try receipt.signatureField())
        },
    ]
}
