import Foundation
import PurchaseAPI
import PurchaseServer
import PurchaseVerification
import TestSupport
import Testing

/// Compares the drop-in's answers to transaction receipts with Apple's.
@Suite("Recorded answers of Apple to transaction receipts", .enabled(if: Corpus.isPresent, "\(Corpus.absence)"))
struct TransactionPairTests {
    @Test("Every field that the receipt proves equals Apple's")
    func fields() throws {
        var compared = 0
        var equal = 0
        for item in try Corpus.items("verify-receipt-response") where item.pair != nil && item.golden != "status-only" {
            let folder = item.file.split(separator: "/").dropLast().joined(separator: "/")
            let request = try Corpus.read("\(folder)/request.json")
            let recorded = try GoldenPairReport.object(GoldenPairReport.undoSubstitutions(try Corpus.read(item.file)))
            guard let flat = try answer(request).flatReceipt else { continue }
            compared += 1
            let ours = Dictionary(flat.members.map { ($0.key, $0.value) }) { first, _ in first }
            let apples = ["receipt", "latest_receipt_info", "latest_expired_receipt_info"].compactMap { key in
                (recorded[key] as? [String: Any]).map { (key, $0.compactMapValues { $0 as? String }) }
            }
            // For a renewed subscription, Apple's answer has the receipt that was sent, and the latest one.
            let (place, same) = try #require(
                apples.first { $0.1["transaction_id"] == ours["transaction_id"] }, "\(folder): no part is about it")
            for key in Set(ours.keys).union(same.keys) where !isEdited(item, place, key) {
                #expect(ours[key] == same[key], "\(folder): \(place).\(key)")
                equal += 1
            }
        }
        #expect(compared >= 2)
        print("transaction receipts: \(compared) answers compared, \(equal) fields, all equal")
    }

    @Test("A wrong secret is answered with 21004 and nothing else, as by Apple")
    func wrongSecret() throws {
        let service = VerifyReceiptService(
            verifier: PurchaseVerifier(), environments: [.production, .sandbox], sharedSecret: "the right one")
        let request = try Corpus.read("verify-receipt-pairs/browsec-wrong-secret-21004/request.json")
        let answer = service.answer([UInt8](request), at: .sandbox, now: AppStoreTime(Date()))
        #expect(String(decoding: answer.response.json(), as: UTF8.self) == #"{"status":21004}"#)
    }

    @Test("A receipt of an expired subscription is answered with 21006 and the receipt, as by Apple")
    func expired() throws {
        let folder = "verify-receipt-pairs/browsec-transaction-expired-21006"
        let recorded = try GoldenPairReport.object(try Corpus.read("\(folder)/response.json"))
        let ours = try GoldenPairReport.object(
            Data(try answer(try Corpus.read("\(folder)/request.json")).json()))
        #expect(ours["status"] as? Int == 21006)
        #expect(recorded["status"] as? Int == 21006)
        #expect(Set(ours.keys) == Set(recorded.keys))
        let (left, right) = (ours["latest_expired_receipt_info"], recorded["latest_expired_receipt_info"])
        #expect(Set((left as? [String: String] ?? [:]).keys) == Set((right as? [String: String] ?? [:]).keys))
    }

    @Test("During the period, the same receipt is the latest one, with its base64")
    func current() throws {
        let folder = "verify-receipt-pairs/guardian-production-transaction"
        let request = try Corpus.read("\(folder)/request.json")
        let moment = try #require(AppStoreTime("2013-04-20T00:00:00Z"))
        let ours = try GoldenPairReport.object(Data(try answer(request, at: moment).json()))
        let recorded = try GoldenPairReport.object(try Corpus.read("\(folder)/response.json"))
        #expect(ours["status"] as? Int == 0)
        #expect(
            ours["latest_receipt_info"] as? [String: String] == recorded["latest_receipt_info"] as? [String: String])
        #expect(ours["latest_receipt"] as? String == recorded["latest_receipt"] as? String)
    }

    private func answer(_ request: Data, at moment: AppStoreTime = AppStoreTime(Date())) throws -> VerifyReceiptResponse
    {
        let service = VerifyReceiptService(
            verifier: PurchaseVerifier(), environments: [.production, .sandbox], sharedSecret: nil)
        let answer = service.answer([UInt8](request), at: .production, now: moment)
        guard answer.reason?.code == VerifyReceiptReason.wrongEndpoint.code else { return answer.response }
        return service.answer([UInt8](request), at: .sandbox, now: moment).response
    }

    private func isEdited(_ item: CorpusItem, _ place: String, _ key: String) -> Bool {
        (item.editedFields ?? []).contains { $0.place == place && $0.field == key }
    }
}
