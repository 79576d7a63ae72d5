import EvidenceMint
import Foundation
import LegacyLedger
import PurchaseVerification
import TestSupport
import Testing

/// Whatever is forged ends with its code, in the record, and grants nothing.
@Suite("Attacks on the ledger")
struct LedgerAttackTests {
    @Test(
        "Every attack of the simulator ends with its code, in the record, with its evidence", arguments: Engine.allCases
    )
    func attacks(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            for fault in ReceiptFault.allCases {
                let evidence = Array(Data(try MintedWorld.mint(fault: fault)).base64EncodedString().utf8)
                let outcome = try await world.ledger.submit(world.submission(evidence: evidence))
                #expect(outcome.verdict == .rejected && ReasonCode(rawValue: outcome.code) != nil, "\(fault)")
                let record = try #require(try await world.submissions().first)
                #expect(record.code == outcome.code)
                let sha256 = try #require(record.evidenceSHA256)
                #expect(try await world.ledger.read { try $0.evidence(sha256) } == evidence)
            }
            #expect(try await world.submissions().count == ReceiptFault.allCases.count)
            #expect(try await world.entitlements(of: "alice").isEmpty)
            print("attacks: \(ReceiptFault.allCases.count), all rejected and all in the record")
        }
    }

    @Test("Every attack on signed transactions and transaction receipts ends with its code", arguments: Engine.allCases)
    func otherAttacks(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            let store = try LedgerWorld.store.get()
            let purchase = MintedWorld.purchases()[0]
            let signed = SignedTransactionTemplate(purchase: purchase, bundleID: "com.example.app")
            let receipt = TransactionReceiptTemplate(purchase: purchase, bundleID: "com.example.app")
            var outcomes: [String: PurchaseOutcome] = [:]
            for fault in SignedPayloadFault.allCases {
                guard
                    let evidence = try applicable({
                        try SignedPayloadEncoder(authority: store).encode(signed, fault: fault)
                    })
                else { continue }
                outcomes["signed data, \(fault)"] = try await world.ledger.submit(
                    world.submission(evidence: Array(evidence.utf8)))
            }
            for fault in TransactionReceiptFault.allCases {
                let encoder = TransactionReceiptEncoder(authority: store)
                guard
                    let evidence = try applicable({
                        try encoder.encodeBase64(receipt, version: .two, fault: fault)
                    })
                else { continue }
                outcomes["receipt, \(fault)"] = try await world.ledger.submit(
                    world.submission(evidence: Array(evidence.utf8)))
            }
            // Most faults apply to a plain transaction and a plain receipt.
            #expect(outcomes.count > 30)
            let accepted = outcomes.filter { $0.value.verdict == .accepted }.map(\.key).sorted()
            #expect(accepted.isEmpty, "\(accepted)")
            #expect(try await world.submissions().count == outcomes.count)
            print("attacks on signed data and transaction receipts: \(outcomes.count), all in the record")
        }
    }

    @Test("Signed data that proves no purchase is told apart from forgeries", arguments: Engine.allCases)
    func unsuitable(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            let encoder = SignedPayloadEncoder(authority: try LedgerWorld.store.get())
            let renewal = RenewalInfoTemplate(
                transaction: SignedTransactionTemplate(
                    purchase: MintedWorld.purchases()[2], bundleID: "com.example.app"))
            let genuine = Array(try encoder.encode(renewal).utf8)
            let outcome = try await world.ledger.submit(world.submission(evidence: genuine))
            #expect(outcome.code == "evidence_not_a_purchase", "\(outcome)")
            let forged = Array(try encoder.encode(renewal, fault: .flippedSignatureByte).utf8)
            let code = try await world.ledger.submit(world.submission(evidence: forged)).code
            #expect(ReasonCode(rawValue: code) != nil && code != "evidence_not_a_purchase")
        }
    }

    /// What is minted; `nil` if the content lacks what the fault would break.
    private func applicable(_ mint: () throws -> String) throws -> String? {
        do {
            return try mint()
        } catch MintError.inapplicableFault {
            return nil
        }
    }
}
