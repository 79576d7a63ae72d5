import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Forged evidence", .ledger)
struct ForgedEvidenceTests {
    let world: LedgerWorld = CurrentWorld.opened()

    @Test("Every attack on receipts and signed data ends with the core's code, is recorded, and grants nothing")
    func attacks() async throws {
        let purchase = MintedWorld.purchases()[0]
        let store = try MintedWorld.store()
        let signed = SignedTransactionTemplate(purchase: purchase, bundleID: "com.example.app")
        let receipt = TransactionReceiptTemplate(purchase: purchase, bundleID: "com.example.app")
        var attacks: [(String, [UInt8])] = []
        for fault in ReceiptFault.allCases {
            let evidence = Data(try MintedWorld.mint(fault: fault)).base64EncodedString()
            attacks.append(("app receipt, \(fault)", Array(evidence.utf8)))
        }
        for fault in SignedPayloadFault.allCases {
            let encoder = SignedPayloadEncoder(authority: store)
            guard let evidence = try applicable({ try encoder.encode(signed, fault: fault) }) else { continue }
            attacks.append(("signed data, \(fault)", Array(evidence.utf8)))
        }
        for fault in TransactionReceiptFault.allCases {
            let encoder = TransactionReceiptEncoder(authority: store)
            guard let evidence = try applicable({ try encoder.encodeBase64(receipt, version: .two, fault: fault) })
            else { continue }
            attacks.append(("transaction receipt, \(fault)", Array(evidence.utf8)))
        }
        for (name, evidence) in attacks {
            let outcome = try await world.claim("2000000000000001", evidence)
            #expect(outcome.verdict == .rejected && ReasonCode(rawValue: outcome.code) != nil, "\(name)")
            #expect(outcome.disposition != .granted, "\(name)")
            let query = EvidenceOfEntry(app: "example", entryID: outcome.submissionID)
            // The core reads at most 16 MiB, and larger evidence is not stored whole.
            let kept = evidence.count > 16 << 20 ? Array(evidence.prefix(1024)) : evidence
            let stored = try #require(try await world.ledger.answer(query), "\(name)")
            #expect(stored.bytes == kept && stored.size == Int64(evidence.count), "\(name)")
        }
        // Most faults apply to a plain receipt and a plain transaction.
        #expect(attacks.count > ReceiptFault.allCases.count + 30)
        #expect(try await world.submissions().count == attacks.count)
        #expect(try await world.entitlement() == nil)
        #expect(try await world.events().isEmpty)
        print("attacks: \(attacks.count), all rejected and recorded")
    }

    @Test("Signed data without a purchase has another code than forgeries")
    func unsuitable() async throws {
        let encoder = SignedPayloadEncoder(authority: try MintedWorld.store())
        let renewal = RenewalInfoTemplate(
            transaction: SignedTransactionTemplate(
                purchase: MintedWorld.purchases()[2], bundleID: "com.example.app"))
        let genuine = Array(try encoder.encode(renewal).utf8)
        #expect(try await world.claim("1", genuine).code == "evidence_not_a_purchase")
        let forged = Array(try encoder.encode(renewal, fault: .flippedSignatureByte).utf8)
        #expect(ReasonCode(rawValue: try await world.claim("1", forged).code) != nil)
    }

    @Test("Genuine evidence of another app, version or environment has the core's code, and is the operator's matter")
    func otherApp() async throws {
        try await LedgerWorld.with {
            $0.versions = ["7.0"]
            $0.environments = [.production, .sandbox]
        } _: { world in
            var receipt = MintedWorld.receipt()
            receipt.applicationVersion = "6.0"
            let version = Array(Data(try MintedWorld.mint(receipt)).base64EncodedString().utf8)
            let cases: [([UInt8], ReasonCode)] = [
                (try LedgerWorld.signed("1") { $0.bundleID = "com.example.other" }, .bundleIDMismatch),
                (try LedgerWorld.signed("1") { $0.environment = "Simulator" }, .environmentNotAccepted),
                (version, .applicationVersionMismatch),
            ]
            for (evidence, code) in cases {
                let outcome = try await world.claim("1", evidence)
                #expect(outcome.code == code.rawValue && outcome.disposition == .operator, "\(outcome)")
                #expect(outcome.expected != nil && outcome.found != nil, "\(code)")
            }
            #expect(try await world.entitlement() == nil)
        }
    }

    /// The minted evidence; `nil` if the content lacks what the fault would change.
    private func applicable(_ mint: () throws -> String) throws -> String? {
        do {
            return try mint()
        } catch MintError.inapplicableFault {
            return nil
        }
    }
}
