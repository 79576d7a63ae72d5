import Foundation
import PurchaseAPI
import TestSupport
import Testing

@Suite("Recorded replies of Apple", .enabled(if: Corpus.isPresent, "\(Corpus.absence)"))
struct RecordedReplyTests {
    @Test("Every recorded reply is read, and written back byte for byte")
    func roundTrip() throws {
        let items = try Corpus.items("verify-receipt-response")
        #expect(items.count >= 60)
        for item in items {
            let json = try item.bytes()
            let recorded = try #require(try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
            guard recorded["status"] != nil else {
                // The publisher removed it.
                #expect(throws: VerifyReceiptReplyError.noStatus) { try VerifyReceiptResponse(json: json) }
                #expect(item.file.hasPrefix("negative/"), "\(item.file)")
                continue
            }
            let response = try VerifyReceiptResponse(json: json)
            #expect(response.json() == json, "\(item.file)")
            #expect(response.status.rawValue == recorded["status"] as? Int, "\(item.file)")
            #expect(response.environment == recorded["environment"] as? String, "\(item.file)")
            if let count = item.inAppCount { #expect(response.receipt?.inApp.count == count, "\(item.file)") }
            try checkForms(response, recorded, item.file)
        }
    }

    /// Each main member is read in its form.
    private func checkForms(_ response: VerifyReceiptResponse, _ recorded: [String: Any], _ file: String) throws {
        let receipt = recorded["receipt"] as? [String: Any]
        let isFlat = receipt?["bid"] != nil
        #expect((response.flatReceipt != nil) == (receipt != nil && isFlat), "\(file)")
        #expect((response.receipt != nil) == (receipt != nil && !isFlat), "\(file)")
        let latest = recorded["latest_receipt_info"]
        #expect(response.latestReceiptInfo?.count == (latest as? [Any])?.count, "\(file)")
        #expect((response.latestFlatReceiptInfo != nil) == (latest is [String: Any]), "\(file)")
        #expect(
            (response.latestExpiredReceiptInfo != nil) == (recorded["latest_expired_receipt_info"] != nil), "\(file)")
        #expect(response.pendingRenewalInfo?.count == (recorded["pending_renewal_info"] as? [Any])?.count, "\(file)")
        #expect((response.latestReceipt != nil) == (recorded["latest_receipt"] != nil), "\(file)")
        #expect((response.flatRenewalInfo != nil) == (recorded["auto_renew_status"] != nil), "\(file)")
    }

    @Test("Every field of Apple's own replies is known; edited fields are shown")
    func unread() throws {
        var edited = 0
        for item in try Corpus.items("verify-receipt-response") {
            guard let unread = try? VerifyReceiptResponse(json: try item.bytes()).unreadMembers else { continue }
            if ["exact", "latest", "redacted", "status-only"].contains(item.golden) {
                #expect(Set(unread).isSubset(of: Self.remarks), "\(item.file): \(unread)")
            } else if !unread.isEmpty {
                edited += 1
            }
        }
        #expect(edited > 0)
        print("recorded replies: \(edited) edited ones have members that Apple does not write")
    }

    /// The fields that publishers added to replies of Apple.
    private static let remarks: Set = ["receipt.recip"]
}
