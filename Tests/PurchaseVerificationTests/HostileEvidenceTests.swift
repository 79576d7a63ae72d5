import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport
import Testing

/// The same requirements as for app receipts, for the other kinds of evidence.
@Suite("Hostile bytes of the other kinds")
struct HostileEvidenceTests {
    /// The outer list of a transaction receipt is not signed. It must not change the result for a caller who names the
    /// accepted environments.
    private static let policies: [any PurchasePolicy] = [EnvironmentPolicy(accepting: [.production, .sandbox])]

    private static func verifier() throws -> PurchaseVerifier {
        PurchaseVerifier(anchors: try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) })
    }

    private enum Verdict: Equatable {
        case verified(VerifiedEvidence)
        case refused(ReasonCode)

        init(_ verifier: PurchaseVerifier, _ evidence: [UInt8]) {
            do throws(VerificationError) {
                self = .verified(try verifier.verify(evidence, policies: policies))
            } catch {
                self = .refused(error.code)
            }
        }
    }

    @Test(
        "Every proper prefix of a transaction receipt is refused, and the whole is accepted",
        arguments: MintedVersion.allCases)
    func receiptPrefixes(_ version: MintedVersion) async throws {
        try await requirePrefixesRefused(try MintedWorld.mint(MintedWorld.transactionReceipt(), version))
    }

    @Test("Every proper prefix of signed data is refused, and the whole is accepted", arguments: 0..<5)
    func dataPrefixes(_ number: Int) async throws {
        try await requirePrefixesRefused(try MintedWorld.mint(MintedWorld.signedPayload()[number]))
    }

    private func requirePrefixesRefused(_ evidence: [UInt8]) async throws {
        let verifier = try Self.verifier()
        _ = try verifier.verify(evidence, policies: Self.policies)
        for count in evidence.indices {
            await Task.yield()
            guard case .refused = Verdict(verifier, Array(evidence[..<count])) else {
                Issue.record("\(count) of \(evidence.count) bytes were accepted")
                return
            }
        }
    }

    @Test(
        "A transaction receipt with a flipped bit is refused, or verifies with unchanged content",
        arguments: MintedVersion.allCases)
    func flippedReceipts(_ version: MintedVersion) async throws {
        let evidence = try MintedWorld.mint(MintedWorld.transactionReceipt(), version)
        let counts = try await flip(evidence, in: evidence.indices)
        print(
            "flipped bits of version \(version.rawValue): \(counts.refused) refused, \(counts.unchanged) without effect"
        )
        #expect(counts.refused > counts.unchanged * 10)
    }

    @Test("Every flipped bit of signed data is refused", arguments: 0..<5)
    func flippedData(_ number: Int) async throws {
        let evidence = try MintedWorld.mint(MintedWorld.signedPayload()[number])
        // The header is the same in all of them, so one is enough.
        let header = try #require(evidence.firstIndex(of: UInt8(ascii: ".")))
        let counts = try await flip(evidence, in: number == 0 ? evidence.indices : header..<evidence.count)
        #expect(counts.refused > 0)
        #expect(counts.unchanged == 0)
    }

    /// Flips one bit of each byte, a different one each time; `make torture` flips all of them.
    private func flip(_ evidence: [UInt8], in range: Range<Int>) async throws -> (refused: Int, unchanged: Int) {
        let verifier = try Self.verifier()
        let whole = Verdict(verifier, evidence)
        guard case .verified = whole else {
            Issue.record("refused as it is")
            return (0, 0)
        }
        var counts = (refused: 0, unchanged: 0)
        for offset in range {
            // Servers in other tests share the thread.
            await Task.yield()
            var changed = evidence
            changed[offset] ^= 1 << UInt8(offset % 8)
            let verdict = Verdict(verifier, changed)
            if case .refused = verdict {
                counts.refused += 1
            } else {
                #expect(verdict == whole, "byte \(offset)")
                counts.unchanged += 1
            }
        }
        return counts
    }

    @Test("Randomly edited evidence never causes a crash, and is refused or verifies with unchanged content")
    func randomEdits() throws {
        let verifier = try Self.verifier()
        var random = SeededGenerator(seed: 20_261_122)
        var evidence = try MintedVersion.allCases.map { try MintedWorld.mint(MintedWorld.transactionReceipt(), $0) }
        evidence += try MintedWorld.signedPayload().map { try MintedWorld.mint($0) }
        for original in evidence {
            let whole = Verdict(verifier, original)
            for _ in 0..<300 {
                var bytes = original
                for _ in 0...Int.random(in: 0..<4, using: &random) { Self.edit(&bytes, &random) }
                let verdict = Verdict(verifier, bytes)
                if case .verified = verdict { #expect(verdict == whole) }
                _ = verifier.inspect(bytes, policies: Self.policies)
            }
        }
    }

    private static func edit(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        let offset = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[offset] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: offset)
        case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: offset)
        default:
            let length = min(Int.random(in: 1..<64, using: &random), bytes.count - offset)
            bytes.append(contentsOf: bytes[offset..<(offset + length)])
        }
    }

    @Test("Evidence seen before changes no verdict and no code, in either order")
    func history() throws {
        var evidence: [[UInt8]] = []
        for version in MintedVersion.allCases {
            evidence.append(try MintedWorld.mint(MintedWorld.transactionReceipt(), version))
            for fault in TransactionReceiptFault.allCases where fault != .oversized {
                evidence.append(try MintedWorld.mint(MintedWorld.transactionReceipt(), version, fault: fault))
            }
        }
        for template in MintedWorld.signedPayload() {
            evidence.append(try MintedWorld.mint(template))
            for fault in SignedPayloadFault.allCases where fault != .oversized && Self.applies(fault, to: template) {
                evidence.append(try MintedWorld.mint(template, fault: fault))
            }
        }
        let fresh = try evidence.map { Verdict(try Self.verifier(), $0) }
        let remembering = try Self.verifier()
        #expect(evidence.map { Verdict(remembering, $0) } == fresh, "in order")
        #expect(remembering.rememberedHeaders > 0)
        #expect(evidence.map { Verdict(remembering, $0) } == fresh, "when all were seen")
        let backwards = try Self.verifier()
        #expect(evidence.reversed().map { Verdict(backwards, $0) } == fresh.reversed(), "backwards")
        let verified = fresh.count { if case .verified = $0 { true } else { false } }
        #expect(verified > 8 && verified < fresh.count)
        print("history: \(fresh.count) pieces of evidence, \(verified) of them verified, with and without memory")
    }

    private static func applies(_ fault: SignedPayloadFault, to template: any SignedPayloadTemplate) -> Bool {
        fault.applies(to: template)
    }

    @Test("The facts in an error do not grow with the evidence")
    func boundedFacts() throws {
        let verifier = try Self.verifier()
        let long = String(repeating: "a", count: 500_000)
        var evidence = try [
            HandmadeJWS(ClaimsText.object(ClaimsText.transaction), header: HandmadeJWS.header(alg: "\"\(long)\"")),
            // One character with sixty thousand marks.
            HandmadeJWS(
                ClaimsText.object(ClaimsText.transaction),
                header: HandmadeJWS.header(alg: "\"a\(String(repeating: "\u{301}", count: 60_000))\"")),
            HandmadeJWS(ClaimsText.object(ClaimsText.transaction, ["purchaseDate": "\"\(long)\""])),
        ].map { try $0.bytes() }
        for entry in ["\"\(long)\" = \"\";", "\"k\" = \"\"; \"\(long)\" = \"a\"; \"\(long)\" = \"b\";"] {
            var receipt = try HandmadeTransactionReceipt(.three)
            receipt.unsigned = entry
            evidence.append(try receipt.bytes())
        }
        evidence.append(
            try HandmadeTransactionReceipt(
                .three, purchaseInfo: "{\"purchase-date-ms\"=\"1700000000000\";\"quantity\"=\"\(long)\";}"
            ).bytes())
        for bytes in evidence {
            do throws(VerificationError) {
                _ = try verifier.verify(bytes, policies: [])
                Issue.record("accepted")
            } catch {
                #expect((error.expected ?? "").utf8.count <= 1024)
                #expect((error.found ?? "").utf8.count <= 1024)
            }
        }
    }

    @Test(
        "Claims without a field are kept up to 16 levels and 4,096 values, and unsigned claims are not read at all")
    func boundsOfJSON() throws {
        let verifier = try Self.verifier()
        let values = 4094 - ClaimsText.transaction.count
        for more in [BoundedJSON.nested(levels: 15), BoundedJSON.list(of: values)] {
            let jws = try HandmadeJWS(ClaimsText.object(ClaimsText.transaction, ["more": more]))
            guard case .signedTransaction(let transaction) = try verifier.verify(try jws.bytes(), policies: [])
            else {
                Issue.record("no transaction")
                continue
            }
            #expect(transaction.otherClaims["more"] != nil)
        }
        // The names of the claims determine the kind, whatever their values.
        let deep = try HandmadeJWS(ClaimsText.object(ClaimsText.transaction, ["productId": "[[[{}]]]"]))
        #expect(try RecognizedEvidence(try deep.bytes()).kind == .signedTransaction)
        let deeper = try HandmadeJWS(
            ClaimsText.object(ClaimsText.transaction, ["more": BoundedJSON.nested(levels: 400)]))
        #expect(try RecognizedEvidence(try deeper.bytes()).kind == nil)
    }
}
