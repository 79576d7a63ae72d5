import Foundation
import PurchaseAPI
import PurchaseServer
import PurchaseVerification
import TestSupport
import Testing

/// The drop-in's answers beside the ones that Apple gave to the same receipts.
@Suite("Recorded answers of Apple", .enabled(if: Corpus.isPresent, "\(Corpus.absence)"))
struct GoldenPairTests {
    @Test("The drop-in answers as Apple did, in every field that the receipt can prove")
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

    @Test("The drop-in refuses what Apple refused, with the same status")
    func statusOnly() throws {
        let service = VerifyReceiptService(
            verifier: PurchaseVerifier(), environments: [.production, .sandbox], sharedSecret: nil)
        let body = try Corpus.read("verify-receipt-pairs/browsec-malformed-21002/request.json")
        let answer = service.answer([UInt8](body), at: .sandbox, now: Timestamp(Date()))
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
        let answer = service.answer([UInt8](request), at: isSandbox ? .sandbox : .production, now: Timestamp(Date()))
        // Transaction receipts have a comparison of their own.
        if answer.response.flatReceipt != nil { return nil }
        var report = GoldenPairReport(item)
        report.compare(try GoldenPairReport.object(Data(answer.response.json())), with: recorded, request: request)
        return report
    }
}

extension CorpusItem {
    /// A genuine receipt beside an answer that its publisher edited in the fields that the manifest lists.
    fileprivate var kind2IsEditedResponse: Bool { file.hasPrefix("negative/edited-responses/") }
}
