import EvidenceMint
import PurchaseVerification
import TestSupport
import Testing

@Suite("Every rule has a counter-example")
struct CounterExampleTests {
    private static let table: [CounterExample] =
        receipts + transactionReceipts + signedPayload + PolicyCounterExamples.all

    private static let receipts: [CounterExample] =
        ContainerCounterExamples.all + CertificateCounterExamples.all + ContentCounterExamples.all

    private static let transactionReceipts: [CounterExample] =
        FaultCounterExamples.transactionReceipts + PropertyListCounterExamples.all + SignatureFieldCounterExamples.all
        + ReceiptLeafCounterExamples.all + PurchaseInfoCounterExamples.all

    private static let signedPayload: [CounterExample] =
        FaultCounterExamples.signedPayload + SignedPayloadFormCounterExamples.all + SignedPayloadPathCounterExamples.all
        + ClaimsCounterExamples.all + NestedDataCounterExamples.all

    @Test("Evidence that breaks only one rule is refused with the code of that rule", arguments: table)
    func refused(_ example: CounterExample) throws {
        let verifier = try example.verifier()
        let evidence = try example.evidence()
        do throws(VerificationError) {
            switch example.entry {
            case .anyEvidence:
                _ = try verifier.verify(evidence, policies: example.policies)
            case .appReceipt: _ = try verifier.verifyAppReceipt(evidence, policies: example.policies)
            }
            Issue.record("accepted: \(example.testDescription)")
        } catch {
            let error = example.now.map(error.at) ?? error
            #expect(error.code == example.code, "\(example.testDescription): \(error)")
        }
        // `inspect` accepts evidence that is refused only because it is not an app receipt.
        guard example.entry == .anyEvidence else { return }
        var inspection = verifier.inspect(evidence, policies: example.policies)
        if let now = example.now { inspection = inspection.at(now) }
        #expect(inspection.firstFailure?.code == example.code, "\(example.testDescription)")
    }

    @Test("Each counter-example has a unique description")
    func distinct() {
        let counts = Dictionary(grouping: Self.table, by: \.testDescription).filter { $0.value.count > 1 }
        #expect(counts.keys.sorted() == [])
        let codes = Set(Self.table.map(\.code)).count
        print("counter-examples: \(Self.table.count) rows for \(codes) codes")
    }

    @Test("Every code has a counter-example")
    func complete() {
        let covered = Set(Self.table.map(\.code))
        #expect(Set(ReasonCode.allCases).subtracting(covered).map(\.rawValue).sorted() == [])
    }

    @Test("The unchanged receipt behind the counter-examples is accepted")
    func genuine() throws {
        let verifier = PurchaseVerifier(
            anchors: [try TrustAnchor(certificate: try MintedWorld.authority().root.certificate)])
        let receipt = try verifier.verifyAppReceipt(
            try MintedWorld.mint(), policies: [EnvironmentPolicy(accepting: [.sandbox])])
        #expect(receipt.inAppPurchases.count == 3)
        #expect(verifier.inspect(try MintedWorld.mint(), policies: []).firstFailure == nil)
    }

    @Test("The unchanged evidence of the other kinds is accepted as well")
    func genuineEvidence() throws {
        let anchors = try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
        let verifier = PurchaseVerifier(anchors: TrustAnchor.apple + anchors)
        var evidence = try MintedVersion.allCases.map { try HandmadeTransactionReceipt($0).bytes() }
        evidence += try MintedVersion.allCases.map { try MintedWorld.mint(MintedWorld.transactionReceipt(), $0) }
        let claims = [
            ClaimsText.transaction, ClaimsText.renewalInfo, ClaimsText.appTransaction, ClaimsText.notification,
        ]
        evidence += try claims.map { try HandmadeJWS(ClaimsText.object($0)).bytes() }
        evidence += try MintedWorld.signedPayload().map { try MintedWorld.mint($0) }
        evidence.append(try MintedWorld.mint())
        for bytes in evidence {
            _ = try verifier.verify(bytes, policies: [])
            #expect(verifier.inspect(bytes, policies: []).firstFailure == nil)
        }
    }
}
