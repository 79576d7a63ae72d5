import Foundation
import PurchaseAPI
import PurchaseServer
import PurchaseVerification
import TestSupport
import Testing

/// Compares the drop-in's answers with Apple's answers to the same receipts.
@Suite("Recorded answers of Apple", .enabled(if: Corpus.isPresent, "\(Corpus.absence)"))
struct GoldenPairTests {
    @Test("The drop-in answers like Apple in every field that the receipt can prove")
    func pairs() throws {
        let responses = try Corpus.items("verify-receipt-response").filter { $0.pair != nil }
        var reports: [GoldenPairReport] = []
        for item in responses {
            guard let report = try report(item) else { continue }
            reports.append(report)
            #expect(report.different.isEmpty, "\(report.pair): \(report.different.sorted().joined(separator: "; "))")
            #expect(report.equal > 0 || item.golden == "status-only", "\(report.pair): nothing was compared")
        }
        let byGolden = Dictionary(grouping: reports, by: \.golden)
        #expect(byGolden["exact", default: []].count >= 1)
        #expect(byGolden["latest", default: []].count >= 1)
        for report in reports.sorted(by: { ($0.golden, $0.pair) < ($1.golden, $1.pair) }) { print(report.line) }
        print(
            "golden pairs: \(reports.count) compared, \(reports.map(\.equal).reduce(0, +)) fields equal, "
                + "\(reports.map(\.storeState.count).reduce(0, +)) need the store's state, "
                + "\(reports.map(\.edited.count).reduce(0, +)) edited or damaged by their publisher, "
                + "\(reports.map(\.different.count).reduce(0, +)) different")
    }

    @Test(
        "latest_receipt_info has Apple's entries: all purchases, or on request each subscription's latest one"
    )
    func latestReceiptInfo() throws {
        var counts = (all: 0, latest: 0, later: 0, none: 0)
        var entries = 0
        for item in try Corpus.items("verify-receipt-response") where item.pair != nil {
            // In redacted answers the transaction ids are also Apple's.
            guard ["exact", "latest", "redacted"].contains(item.golden) || item.kind2IsEditedResponse else { continue }
            let recorded = try GoldenPairReport.object(GoldenPairReport.undoSubstitutions(try Corpus.read(item.file)))
            guard (recorded["receipt"] as? [String: Any])?["in_app"] != nil else { continue }
            let name = item.pair ?? item.name
            guard let info = recorded["latest_receipt_info"] as? [[String: Any]] else {
                // Until 2020 Apple omitted it if no purchase was a subscription.
                counts.none += 1
                continue
            }
            #expect(recorded["latest_receipt"] != nil, "\(name)")
            entries += info.count
            let apples = Set(info.compactMap { $0["transaction_id"] as? String })
            let originals = info.compactMap { $0["original_transaction_id"] as? String }.sorted()
            let all = Set(try latest(item, excludingOld: false).map(\.transactionID))
            let latest = try latest(item, excludingOld: true)
            if apples == all {
                counts.all += 1
            } else if latest.map({ $0.originalTransactionID ?? $0.transactionID }).sorted() == originals {
                // One entry for each subscription, which may have been renewed after the receipt was signed.
                counts.latest += 1
            } else {
                // Only Apple knows purchases and renewals after the receipt was signed, and edited answers lack some.
                #expect(
                    item.kind2IsEditedResponse || !apples.subtracting(all).isEmpty,
                    "\(name): Apple's \(apples.count), ours \(all.count) or \(latest.count)")
                counts.later += 1
            }
        }
        #expect(counts.all > 0 && counts.latest > 0)
        print(
            "latest_receipt_info: \(entries) recorded entries; equal to all purchases in \(counts.all) answers, to each "
                + "subscription's latest in \(counts.latest), with later or edited entries in \(counts.later); absent in "
                + "\(counts.none)")
    }

    /// The entries of `latest_receipt_info` of our answer.
    private func latest(
        _ item: CorpusItem, excludingOld: Bool
    ) throws -> [VerifyReceiptResponse.InAppPurchase] {
        let folder = item.file.split(separator: "/").dropLast().joined(separator: "/")
        var request = try JSONDecoder().decode(
            VerifyReceiptRequest.self, from: try Corpus.read("\(folder)/request.json"))
        request.excludesOldTransactions = excludingOld
        let body = [UInt8](try JSONEncoder().encode(request))
        let service = VerifyReceiptService(
            verifier: PurchaseVerifier(), environments: [.production, .sandbox], sharedSecret: nil)
        for endpoint in [VerifyReceiptService.Endpoint.production, .sandbox] {
            let answer = service.answer(body, at: endpoint, now: AppStoreTime(Date())).response
            if let info = answer.latestReceiptInfo { return info }
        }
        return []
    }

    @Test("The drop-in refuses every receipt that Apple refused, with the same status")
    func statusOnly() throws {
        let service = VerifyReceiptService(
            verifier: PurchaseVerifier(), environments: [.production, .sandbox], sharedSecret: nil)
        let body = try Corpus.read("verify-receipt-pairs/browsec-malformed-21002/request.json")
        let answer = service.answer([UInt8](body), at: .sandbox, now: AppStoreTime(Date()))
        #expect(String(decoding: answer.response.json(), as: UTF8.self) == #"{"status":21002}"#)
    }

    /// The comparison of a pair; `nil` for pairs that are not about app receipts, or that their publisher rewrote.
    private func report(_ item: CorpusItem) throws -> GoldenPairReport? {
        guard item.golden == "exact" || item.golden == "latest" || item.kind2IsEditedResponse else { return nil }
        let folder = item.file.split(separator: "/").dropLast().joined(separator: "/")
        let request = try Corpus.read("\(folder)/request.json")
        let recorded = try GoldenPairReport.object(GoldenPairReport.undoSubstitutions(try Corpus.read(item.file)))
        let service = VerifyReceiptService(
            verifier: PurchaseVerifier(), environments: [.production, .sandbox], sharedSecret: nil)
        let isSandbox = recorded["environment"] as? String == "Sandbox"
        let answer = service.answer([UInt8](request), at: isSandbox ? .sandbox : .production, now: AppStoreTime(Date()))
        // Transaction receipts are compared separately.
        if answer.response.flatReceipt != nil { return nil }
        var report = GoldenPairReport(item)
        report.compare(try GoldenPairReport.object(Data(answer.response.json())), with: recorded, request: request)
        return report
    }
}

extension CorpusItem {
    /// A genuine receipt with an answer that its publisher edited in the fields that the manifest lists.
    fileprivate var kind2IsEditedResponse: Bool { file.hasPrefix("negative/edited-responses/") }
}
