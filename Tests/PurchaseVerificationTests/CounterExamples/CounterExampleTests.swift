import AppStoreSimulator
import PurchaseVerification
import TestSupport
import Testing

@Suite("Every rule has its counter-example")
struct CounterExampleTests {
    private static let table =
        ContainerCounterExamples.all + CertificateCounterExamples.all + ContentCounterExamples.all

    @Test("A receipt that breaks only this rule is refused with this rule's code", arguments: table)
    func refused(_ example: CounterExample) throws {
        let verifier = try example.verifier()
        let evidence = try example.evidence()
        do throws(VerificationError) {
            _ = try verifier.verify(evidence, policies: example.policies)
            Issue.record("accepted: \(example.testDescription)")
        } catch {
            #expect(error.code == example.code, "\(example.testDescription): \(error)")
        }
        #expect(verifier.inspect(evidence, policies: example.policies).firstFailure?.code == example.code)
    }

    @Test("No code is without a counter-example")
    func complete() {
        let covered = Set(Self.table.map(\.code))
        #expect(Set(ReasonCode.allCases).subtracting(covered).map(\.rawValue).sorted() == [])
    }

    @Test("The receipt that the counter-examples are made from is accepted")
    func genuine() throws {
        let verifier = PurchaseVerifier(
            anchors: [try TrustAnchor(certificate: try MintedWorld.authority().root.certificate)])
        let receipt = try verifier.verify(try MintedWorld.mint(), policies: [EnvironmentPolicy(accepting: [.sandbox])])
        #expect(receipt.inAppPurchases.count == 3)
        #expect(verifier.inspect(try MintedWorld.mint(), policies: []).firstFailure == nil)
    }
}
