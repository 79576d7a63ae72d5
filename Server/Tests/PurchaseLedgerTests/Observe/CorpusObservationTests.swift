import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Observation of the corpus", .enabled(if: Corpus.isPresent, "\(Corpus.absence)"))
struct CorpusObservationTests {
    private let verifier = PurchaseVerifier()

    @Test(
        "every genuine piece of evidence states the content of its manifest, and adds nothing the second time",
        arguments: ["app-receipt", "transaction-receipt", "jws-transaction", "jws-renewalInfo", "jws-notification"])
    func genuine(kind: String) throws {
        let items = try Corpus.items(kind).filter { item in
            // The only genuine receipt that is not observed is Apple's sample of 2010, with a key of 1,024 bits.
            let verdict = item.expected?.verdict ?? ""
            return kind == "app-receipt" ? verdict == "genuine" : verdict.hasPrefix("genuine")
        }
        #expect(!items.isEmpty)
        var (transactions, bytes) = (0, 0)
        for item in items {
            let evidence = try verifier.verify(try item.bytes(), policies: [])
            let observation = Observation(evidence)
            try compare(observation, item)
            for facts in observation.transactionFacts {
                let again = observation.transactions.filter { $0.key == facts.key }
                #expect(again.allSatisfy { facts.merged(with: $0) === facts }, "\(item.name)")
                let encoded = facts.encoded
                #expect(try ObservedTransaction(key: facts.key, encoded: encoded) == facts)
                #expect(facts.productID != nil && facts.purchaseDate != nil, "\(item.name)")
                (transactions, bytes) = (transactions + 1, bytes + encoded.count)
            }
        }
        print(
            "corpus: \(items.count) of \(kind), \(transactions) transactions, \(bytes / max(1, transactions)) bytes each"
        )
    }

    private func compare(_ observation: Observation, _ item: CorpusItem) throws {
        switch item.kind {
        case "app-receipt":
            #expect(observation.transactions.count == item.inAppCount, "\(item.name)")
            #expect(observation.transactions.allSatisfy { $0.bundleID?.string == item.bundleID }, "\(item.name)")
            #expect(
                observation.transactions.allSatisfy {
                    $0.key.environment.name.lowercased() == item.environment?.lowercased()
                }, "\(item.name)")
        case "transaction-receipt":
            let statement = try #require(observation.transactions.first)
            #expect(statement.key.transactionID.string == item.transactionID, "\(item.name)")
            #expect(statement.productID?.string == item.productID, "\(item.name)")
            #expect(statement.bundleID?.string == item.bundleID, "\(item.name)")
        case "jws-transaction":
            let statement = try #require(observation.transactions.first)
            #expect(statement.productID?.string == item.productID, "\(item.name)")
            #expect(statement.bundleID?.string == item.bundleID, "\(item.name)")
            #expect(statement.stamp.millisecondsSince1970 == item.signedDateMilliseconds, "\(item.name)")
        case "jws-renewalInfo":
            let statement = try #require(observation.renewals.first)
            #expect(statement.info.productID?.string == item.productID, "\(item.name)")
            #expect(statement.stamp.millisecondsSince1970 == item.signedDateMilliseconds, "\(item.name)")
        default:
            let carries = item.contains ?? []
            #expect(observation.transactions.count == (carries.contains("signedTransactionInfo") ? 1 : 0))
            #expect(observation.renewals.count == (carries.contains("signedRenewalInfo") ? 1 : 0))
        }
    }
}
