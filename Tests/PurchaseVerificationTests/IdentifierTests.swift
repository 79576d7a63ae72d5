import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport
import Testing

/// Identifiers are compared as bytes. Unicode and the standard library treat the sign for kelvin and `K` as equivalent.
@Suite("Canonically equivalent identifiers")
struct IdentifierTests {
    private static let (plain, lookalike) = ("com.Kite", "com.\u{212A}ite")

    private func code(_ evidence: [UInt8], _ policy: any PurchasePolicy) throws -> ReasonCode? {
        let anchors = try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
        do throws(VerificationError) {
            _ = try PurchaseVerifier(anchors: anchors).verify(evidence, policies: [policy])
            return nil
        } catch {
            return error.code
        }
    }

    @Test("A canonically equivalent bundle id is a different one, in each kind of evidence")
    func bundleIDs() throws {
        var receipt = MintedWorld.receipt()
        receipt.bundleID = Self.lookalike
        var transactionReceipt = MintedWorld.transactionReceipt()
        transactionReceipt.bundleID = Self.lookalike
        var transaction = MintedWorld.transaction()
        transaction.bundleID = Self.lookalike
        let all = [
            try MintedWorld.mint(receipt), try MintedWorld.mint(transactionReceipt, .four),
            try MintedWorld.mint(transaction),
        ]
        for evidence in all {
            #expect(try code(evidence, BundleIDPolicy(Self.plain)) == .bundleIDMismatch)
            #expect(try code(evidence, BundleIDPolicy(anyOf: [Self.plain, "com.other"])) == .bundleIDMismatch)
            #expect(try code(evidence, BundleIDPolicy(anyOf: ["com.other", Self.lookalike])) == nil)
        }
    }

    @Test("Canonically equivalent app versions, products and transaction ids are different, too")
    func others() throws {
        var receipt = MintedWorld.receipt()
        receipt.applicationVersion = "1\u{212A}"
        receipt.purchases = [
            .consumable(productID: Self.lookalike, transactionID: "1\u{212A}", purchaseDate: MintedWorld.moment)
        ]
        let evidence = try MintedWorld.mint(receipt)
        #expect(try code(evidence, ApplicationVersionPolicy("1K")) == .applicationVersionMismatch)
        #expect(try code(evidence, ApplicationVersionPolicy("1\u{212A}")) == nil)
        for (transaction, product, expected) in [
            ("1K", Self.lookalike, ReasonCode.transactionMismatch), ("1\u{212A}", Self.plain, .transactionMismatch),
            ("1\u{212A}", Self.lookalike, nil),
        ] as [(String, String, ReasonCode?)] {
            var facts = TransactionFacts(transactionID: transaction)
            facts.productID = product
            #expect(try code(evidence, TransactionPolicy(facts)) == expected)
        }
    }
}
