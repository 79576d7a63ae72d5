import AppStoreConnection
import Foundation
import PurchaseAPI
import PurchaseServer
import PurchaseVerification
import TestSupport
import Testing

/// Compares Apple's recorded replies with the receipts that the manifest assigns to them.
@Suite("Recorded replies against their receipts", .enabled(if: Corpus.isPresent, "\(Corpus.absence)"))
struct ReplyComparisonTests {
    @Test("Apple's replies agree with the receipts; edited replies, and replies to other receipts, are detected")
    func replies() throws {
        var counts = (genuine: 0, edited: 0, others: 0)
        var pairs: [(item: CorpusItem, evidence: VerifiedEvidence, reply: VerifyReceiptResponse)] = []
        for item in try Corpus.items("verify-receipt-response") where item.pair != nil {
            guard
                let reply = try? VerifyReceiptResponse(
                    json: [UInt8](GoldenPairReport.undoSubstitutions(Data(try item.bytes())))), reply.status == .valid,
                let evidence = try evidence(item)
            else { continue }
            pairs.append((item, evidence, reply))
            let contradictions = Self.contradictions(reply, evidence)
            switch item.golden {
            case "exact":
                #expect(contradictions.isEmpty, "\(item.file): \(contradictions)")
                counts.genuine += 1
            case "latest":
                // The reply is about an older receipt, which is not known: it can lack the newest purchases, and for
                // transaction receipts it describes another period.
                guard case .appReceipt = evidence else { break }
                let others = contradictions.filter { !($0.hasPrefix("receipt.in_app: ") && $0.hasSuffix(" -")) }
                #expect(others.isEmpty, "\(item.file): \(others)")
                counts.genuine += 1
            case "edited", nil:
                #expect(!contradictions.isEmpty, "\(item.file)")
                counts.edited += 1
            default: break
            }
        }
        // Each reply as the reply to every other receipt.
        for reply in pairs {
            for receipt in pairs where receipt.item.file != reply.item.file {
                guard Self.purchases(receipt.evidence) != Self.purchases(reply.evidence) else { continue }
                #expect(
                    !Self.contradictions(reply.reply, receipt.evidence).isEmpty,
                    "\(reply.item.file) for \(receipt.item.file)")
                counts.others += 1
            }
        }
        #expect(counts.genuine >= 10 && counts.edited >= 15 && counts.others >= 100)
        print(
            "recorded replies: \(counts.genuine) agree with their receipts, \(counts.edited) edited ones do not, nor do "
                + "\(counts.others) pairs of a reply and another receipt")
    }

    private func evidence(_ item: CorpusItem) throws -> VerifiedEvidence? {
        let folder = item.file.split(separator: "/").dropLast().joined(separator: "/")
        let request = try VerifyReceiptRequest(json: [UInt8](try Corpus.read("\(folder)/request.json")))
        return try? PurchaseVerifier(anchors: TrustAnchor.apple).verify(
            try RecognizedEvidence(request.receiptText), policies: [])
    }

    private static func contradictions(_ reply: VerifyReceiptResponse, _ evidence: VerifiedEvidence) -> [String] {
        let comparison: ReplyComparison
        switch evidence {
        case .appReceipt(let receipt):
            comparison = ReplyComparison(
                reply, environment: receipt.environment?.name, proven: .init(receipt, requestDate: nil))
        case .transactionReceipt(let receipt):
            comparison = ReplyComparison(reply, environment: receipt.environment?.name, proven: .init(receipt))
        case .signedTransaction, .signedRenewalInfo, .appTransaction, .notification, .realtimeRequest: return []
        }
        return comparison.contradictions.map { "\($0.path): \($0.proven ?? "-") \($0.replied ?? "-")" }
    }

    private static func purchases(_ evidence: VerifiedEvidence) -> [String] {
        switch evidence {
        case .appReceipt(let receipt): receipt.inAppPurchases.map(\.transactionID).sorted()
        case .transactionReceipt(let receipt): [receipt.transactionID]
        case .signedTransaction, .signedRenewalInfo, .appTransaction, .notification, .realtimeRequest: []
        }
    }
}
