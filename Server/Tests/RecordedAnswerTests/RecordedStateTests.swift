import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseServer
import PurchaseVerification
import TestSupport
import Testing

/// Recorded answers of Apple, given again by the drop-in from minted state.
@Suite("Recorded answers from minted state", .enabled(if: Corpus.isPresent, "\(Corpus.absence)"))
struct RecordedStateTests {
    private static func moment(_ recorded: [String: Any]) -> Date? {
        let receipt = recorded["receipt"] as? [String: Any]
        let text = receipt?["request_date_ms"] as? String ?? (receipt?["request_date_ms"] as? NSNumber)?.stringValue
        return text.flatMap { Double($0) }.map { Date(timeIntervalSince1970: $0 / 1000) }
    }

    /// The keys that Apple writes since 2018 and 2022. An older answer lacks them, and has every other key.
    private static let laterKeys = ["original_transaction_id", "price_increase_status"]

    @Test("30.5 Each recorded pending_renewal_info follows from one renewal info, key by key")
    func renewals() async throws {
        var count = 0
        for item in try Corpus.items("verify-receipt-response") {
            let recorded = try GoldenPairReport.object(Data(try item.bytes()))
            guard let renewals = recorded["pending_renewal_info"] as? [[String: Any]] else { continue }
            let moment = Self.moment(recorded) ?? MintedWorld.moment
            for renewal in renewals {
                let ours = try await Self.renewal(renewal, at: moment)
                #expect(ours == renewal as? [String: String], "\(item.file)")
                count += 1
            }
        }
        #expect(count == 31)
        print("pending_renewal_info: \(count) recorded objects, each from one renewal info")
    }

    /// The object that the drop-in writes from renewal info with recorded values, without the keys that Apple did not
    /// write yet.
    private static func renewal(_ recorded: [String: Any], at moment: Date) async throws -> [String: String]? {
        let original = recorded["original_transaction_id"] as? String ?? "1"
        return try await MintedState.with(bundleID: "com.example.app", at: moment) { state in
            // What has an intent is over.
            let start = recorded["expiration_intent"] == nil ? -86_400.0 : -40 * 86_400
            var period = PurchaseTemplate.subscription(
                productID: recorded["product_id"] as? String ?? "", transactionID: original,
                purchaseDate: moment.addingTimeInterval(start),
                expiresDate: moment.addingTimeInterval(start + 30 * 86_400))
            period.productType = .autoRenewableSubscription
            try await state.observe(
                [
                    "transaction_id": original, "product_id": period.productID ?? "",
                    "purchase_date_ms": "\(Int64((moment.timeIntervalSince1970 + start) * 1000))",
                    "original_purchase_date_ms": "\(Int64((moment.timeIntervalSince1970 + start) * 1000))",
                    "expires_date_ms": "\(Int64((moment.timeIntervalSince1970 + start + 30 * 86_400) * 1000))",
                ], environment: "Production")
            try await state.observe(renewal: recorded, of: original, environment: "Production")
            let receipt = try MintedWorld.mint(
                .production(
                    bundleID: "com.example.app", creationDate: moment.addingTimeInterval(start), purchases: [period]))
            let body = try JSONEncoder().encode(VerifyReceiptRequest(receiptData: Data(receipt).base64EncodedString()))
            let answer = try await state.answer([UInt8](body))
            #expect(answer.isLive)
            let ours = try GoldenPairReport.object(Data(answer.response.json()))
            var renewal = (ours["pending_renewal_info"] as? [[String: String]])?.first
            for key in laterKeys where recorded[key] == nil { renewal?[key] = nil }
            return renewal
        }
    }

    @Test("30.5 Recorded latest_receipt_info and pending_renewal_info are answered again, key by key")
    func answers() async throws {
        var counts = (answers: 0, entries: 0, values: 0, renewals: 0)
        for item in try Corpus.items("verify-receipt-response") where item.pair != nil {
            let recorded = try GoldenPairReport.object(GoldenPairReport.undoSubstitutions(Data(try item.bytes())))
            guard ["exact", "latest"].contains(item.golden),
                let entries = recorded["latest_receipt_info"] as? [[String: Any]], let moment = Self.moment(recorded),
                let bundleID = (recorded["receipt"] as? [String: Any])?["bundle_id"] as? String
            else { continue }
            let environment = recorded["environment"] as? String ?? "Production"
            let renewals = recorded["pending_renewal_info"] as? [[String: Any]] ?? []
            let ours = try await MintedState.with(bundleID: bundleID, at: moment) { state in
                for entry in entries { try await state.observe(entry, environment: environment) }
                for renewal in renewals {
                    try await state.observe(
                        renewal: renewal, of: renewal["original_transaction_id"] as? String ?? "",
                        environment: environment)
                }
                let folder = item.file.split(separator: "/").dropLast().joined(separator: "/")
                var request = try VerifyReceiptRequest(json: [UInt8](try Corpus.read("\(folder)/request.json")))
                request.excludesOldTransactions = false
                return try await state.answer([UInt8](try JSONEncoder().encode(request)))
            }
            let json = try GoldenPairReport.object(Data(ours.response.json()))
            let known = Dictionary(
                (json["latest_receipt_info"] as? [[String: Any]] ?? []).map {
                    ($0["transaction_id"] as? String ?? "", $0)
                }
            ) { first, _ in first }
            for entry in entries {
                let id = entry["transaction_id"] as? String ?? ""
                let same = try #require(known[id], "\(item.file): \(id)")
                for key in Set(entry.keys).union(same.keys) {
                    // Keys that Apple did not write yet.
                    if entry[key] == nil, ["in_app_ownership_type", "is_in_intro_offer_period"].contains(key) {
                        continue
                    }
                    if key.contains("_date"), Self.isSameSecond(entry, same, key) { continue }
                    #expect(same[key] as? NSObject == entry[key] as? NSObject, "\(item.file): \(id).\(key)")
                    counts.values += 1
                }
                counts.entries += 1
            }
            for renewal in renewals {
                let original = renewal["original_transaction_id"] as? String
                let same = (json["pending_renewal_info"] as? [[String: String]])?.first {
                    $0["original_transaction_id"] == original
                }
                #expect(same == renewal as? [String: String], "\(item.file): \(original ?? "")")
                counts.renewals += 1
            }
            counts.answers += 1
        }
        #expect(counts.answers >= 15 && counts.entries >= 240 && counts.renewals >= 5, "\(counts)")
        print(
            "from minted state: \(counts.answers) recorded answers, \(counts.entries) entries, \(counts.values) values, "
                + "\(counts.renewals) expected renewals")
    }

    /// Six recorded purchase dates of 2014 and 2015 have milliseconds.
    private static func isSameSecond(_ left: [String: Any], _ right: [String: Any], _ key: String) -> Bool {
        guard key.hasSuffix("_ms"), let left = left[key] as? String, let right = right[key] as? String else {
            return false
        }
        return left != right && left.dropLast(3) == right.dropLast(3)
    }
}
