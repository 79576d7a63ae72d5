import Foundation
import PurchaseVerification
import TestSupport
import Testing

/// Every real transaction receipt verifies, and every forged one is refused.
@Suite("Transaction receipts of the corpus", .enabled(if: Corpus.isPresent, "\(Corpus.absence)"))
struct TransactionReceiptCorpusTests {
    private let verifier = PurchaseVerifier()
    private let storePolicies: [any PurchasePolicy] = [EnvironmentPolicy(accepting: [.production, .sandbox])]

    @Test("Every genuine receipt verifies, with the content that the manifest states")
    func genuine() throws {
        let items = try Corpus.items("transaction-receipt").filter { $0.expected?.verdict == "genuine" }
        try #require(!items.isEmpty)
        var versions: [UInt8: Int] = [:]
        for item in items {
            let bytes = try item.bytes()
            let receipt: TransactionReceipt
            do throws(VerificationError) {
                let evidence = try verifier.verify(bytes, policies: storePolicies)
                guard case .transactionReceipt(let found) = evidence else {
                    Issue.record("\(item.name) is \(evidence.kind)")
                    continue
                }
                receipt = found
            } catch {
                Issue.record("\(item.name): \(error)")
                continue
            }
            #expect(receipt.bundleID == item.bundleID, "\(item.name)")
            #expect(receipt.productID == item.productID, "\(item.name)")
            #expect(receipt.transactionID == item.transactionID, "\(item.name)")
            #expect(receipt.version.rawValue == item.signatureVersion, "\(item.name)")
            // The manifest has the date in GMT, without milliseconds.
            let words = item.purchaseDate?.replacingOccurrences(of: " Etc/GMT", with: "Z")
                .replacingOccurrences(of: " ", with: "T")
            let seconds = AppStoreTime(millisecondsSince1970: receipt.purchaseDate.millisecondsSince1970 / 1000 * 1000)
            #expect(seconds == words.flatMap { AppStoreTime($0) }, "\(item.name)")
            // A sandbox transaction id means that the purchase was made in the sandbox, except in receipts from before
            // they stated their environment.
            #expect(receipt.environment?.name.lowercased() == item.environment, "\(item.name)")
            #expect(receipt.attributes.map(\.key).sorted() == item.purchaseInfoKeys?.sorted(), "\(item.name)")
            #expect(verifier.inspect(bytes, policies: storePolicies).firstFailure == nil, "\(item.name)")
            versions[receipt.version.rawValue, default: 0] += 1
        }
        let verified = versions.values.reduce(0, +)
        #expect(verified == items.count)
        #expect(Set(versions.keys) == [2, 3, 4])
        print("corpus: \(verified) of \(items.count) genuine transaction receipts verified, by version \(versions)")
    }

    @Test("The unsigned part of a genuine receipt does not change its environment")
    func unsignedEnvironment() throws {
        let items = try Corpus.items("transaction-receipt").filter { $0.environment == "sandbox" }
        try #require(!items.isEmpty)
        for item in items {
            let list = String(decoding: try RecognizedEvidence(try item.bytes()).bytes, as: UTF8.self)
            try #require(list.contains("\"Sandbox\""))
            let production = list.replacingOccurrences(of: "\"Sandbox\"", with: "\"Production\"")
            let unstated = list.replacingOccurrences(of: "\"environment\" = \"Sandbox\";", with: "")
            try #require(!unstated.contains("environment"))
            for list in [production, unstated] {
                #expect(
                    code(Array(list.utf8), [EnvironmentPolicy(accepting: [.production])]) == .environmentNotAccepted,
                    "\(item.name)")
            }
            let xcode = list.replacingOccurrences(of: "\"Sandbox\"", with: "\"Xcode\"")
            #expect(code(Array(xcode.utf8), []) == .environmentNotVouchedFor)
        }
    }

    @Test("Everything that must not verify is refused with its code")
    func negative() throws {
        let kinds: Set = [
            "forged-transaction-receipt", "tampered-transaction-receipt", "mock-transaction-receipt",
            "transaction-receipt-mock",
        ]
        let items = try Corpus.items().filter { kinds.contains($0.kind) }
        #expect(Set(items.map(\.kind)) == kinds)
        for item in items {
            let found = code(try item.bytes(), storePolicies)
            #expect(
                found.map { Self.fitting(item).contains($0) } == true, "\(item.name): \(found?.rawValue ?? "accepted")")
        }
        print("corpus: \(items.count) forged, tampered and made-up transaction receipts refused")
    }

    private static func fitting(_ item: CorpusItem) -> Set<ReasonCode> {
        switch item.kind {
        case "forged-transaction-receipt": [.issuerUnknown]
        // If the manifest names no app, the bytes have no dates or are not a list.
        case "tampered-transaction-receipt" where item.bundleID == nil: [.purchaseInfoMalformed, .creationDateMissing]
        case "tampered-transaction-receipt": [.signatureInvalid]
        case "mock-transaction-receipt": [.signatureVersionUnsupported]
        // It has no signature.
        default: [.transactionReceiptFieldMissing]
        }
    }

    @Test("The receipt that was sent by every app in 2012 is genuine, and is refused for its content")
    func replayed() throws {
        let items = try Corpus.items("replayed-transaction-receipt")
        try #require(!items.isEmpty)
        for item in items {
            let bytes = try item.bytes()
            let transactionID = try #require(item.transactionID)
            #expect(code(bytes, storePolicies) == nil)
            #expect(code(bytes, [BundleIDPolicy("com.example.app")]) == .bundleIDMismatch)
            let claimed = TransactionFacts(transactionID: transactionID, productID: "com.example.app.pro")
            #expect(code(bytes, [TransactionPolicy(claimed)]) == .transactionMismatch)
            #expect(code(bytes, [UnseenTransactionPolicy { $0 == transactionID }]) == .transactionSeenBefore)
        }
    }

    private func code(_ bytes: [UInt8], _ policies: [any PurchasePolicy]) -> ReasonCode? {
        do throws(VerificationError) {
            _ = try verifier.verify(bytes, policies: policies)
            return nil
        } catch {
            return error.code
        }
    }
}
