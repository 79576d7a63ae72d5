import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport
import Testing

/// Inputs that a fuzzer starting from whole receipts rarely reaches: almost empty ones.
@Suite("Short evidence")
struct ShortEvidenceTests {
    /// Bytes that determine how a reader continues: marks of encodings, brackets, tags, lengths, separators.
    private static let decisive: [UInt8] =
        [0x00, 0x01, 0x20, 0x0A, 0x30, 0x31, 0x80, 0x82, 0xFF, 0xEF, 0xBB, 0xBF]
        + Array("{}\"=;.eyMA-".utf8)

    /// Every sequence of at most this many of these bytes.
    private static func sequences(of bytes: [UInt8], upTo length: Int) -> [[UInt8]] {
        var all: [[UInt8]] = [[]]
        var longest = all
        for _ in 0..<length {
            longest = longest.flatMap { start in bytes.map { start + [$0] } }
            all += longest
        }
        return all
    }

    private func check(_ evidence: [UInt8], by verifier: PurchaseVerifier) {
        let inspected = verifier.inspect(evidence, policies: []).firstFailure
        do throws(VerificationError) {
            _ = try verifier.verify(evidence, policies: [])
            Issue.record("accepted: \(evidence)")
        } catch {
            #expect(error == inspected, "\(evidence)")
        }
    }

    private func verifier() throws -> PurchaseVerifier {
        PurchaseVerifier(anchors: [try TrustAnchor(certificate: try MintedWorld.authority().root.certificate)])
    }

    @Test("All evidence of up to two bytes, and of up to four significant ones, is refused with one reason")
    func whole() async throws {
        let verifier = try verifier()
        for evidence in Self.sequences(of: Array(0...255), upTo: 2) {
            await Task.yield()
            check(evidence, by: verifier)
        }
        for evidence in Self.sequences(of: Self.decisive, upTo: 3) { check(evidence, by: verifier) }
        let marked: [UInt8] = [0xEF, 0xBB, 0xBF]
        for evidence in Self.sequences(of: Self.decisive, upTo: 2) {
            check(marked + evidence, by: verifier)
            check(marked + evidence + marked, by: verifier)
        }
    }

    @Test("Short texts in each part of signed data, and in each field of a transaction receipt, are refused")
    func parts() async throws {
        let verifier = try verifier()
        let genuine = try MintedWorld.mint(MintedWorld.transaction()).split(separator: UInt8(ascii: ".")).map(
            Array.init)
        let receipt = try HandmadeTransactionReceipt(.four)
        for short in Self.sequences(of: Self.decisive, upTo: 2) {
            // Servers in other tests share the thread.
            await Task.yield()
            let encoded = Array(HandmadeJWS.base64URL(short).utf8)
            for text in [short, encoded] {
                for part in genuine.indices {
                    var parts = genuine
                    parts[part] = text
                    check(Array(parts.joined(separator: [UInt8(ascii: ".")])), by: verifier)
                }
            }
            check(Array(Data(short).base64EncodedData()), by: verifier)
            check(receipt.bytes(signatureField: short), by: verifier)
            check(receipt.bytes(signatureField: [4] + short), by: verifier)
            check(receipt.bytes(signature: String(decoding: short, as: UTF8.self)), by: verifier)
            var changed = receipt
            changed.purchaseInfo = short
            check(try changed.bytes(), by: verifier)
            check(Array("{".utf8) + short, by: verifier)
        }
    }

    /// Short values where a longer one is expected.
    private static let fragments: [[UInt8]] = [
        [], [0x00], [0x80], [0xFF], [0x00, 0x00], [0x80, 0x00], [0xFF, 0xFF], [0x30, 0x00], [0x30, 0x80], [0x04, 0x00],
        [0x05, 0x00], [0x06, 0x00], [0x02, 0x00], [0x03, 0x00], [0x03, 0x01, 0x00], [0x16, 0x00], [0x17, 0x00],
        [0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 0, 0, 0, 0, 0], [0x9F, 0xFF, 0x7F],
        Array("9999-12-31T23:59:59Z".utf8), Array("0000-00-00T00:00:00Z".utf8), Array("000000000000Z".utf8),
    ]

    /// A tree with each of its elements replaced in turn, in its content and in its encoding.
    private func variants(of tree: DERTree, _ fragment: [UInt8]) -> [DERTree] {
        var all: [DERTree] = []
        var emptied = tree
        (emptied.content, emptied.raw) = (
            fragment, tree.tag & 0x20 == 0 ? nil : [tree.tag, UInt8(fragment.count)] + fragment
        )
        var replaced = tree
        replaced.raw = fragment
        all += [emptied, replaced]
        for (number, child) in tree.children.enumerated() {
            for variant in variants(of: child, fragment) {
                var changed = tree
                changed.children[number] = variant
                all.append(changed)
            }
        }
        return all
    }

    @Test("An app receipt with any element replaced by a short one is refused, or verifies with unchanged content")
    func elements() async throws {
        let verifier = try verifier()
        let evidence = try MintedWorld.mint()
        let receipt = try verifier.verifyAppReceipt(evidence, policies: [])
        let container = DERTree(evidence)
        var checked = 0
        for fragment in Self.fragments {
            for variant in variants(of: container, fragment) {
                await Task.yield()
                let bytes = variant.bytes
                let inspected = verifier.inspect(bytes, policies: []).firstFailure
                do throws(VerificationError) {
                    #expect(try verifier.verifyAppReceipt(bytes, policies: []) == receipt)
                } catch {
                    // Another kind of evidence is refused before it is read.
                    #expect(error == inspected || error.code == .evidenceUnsupported)
                }
                checked += 1
            }
        }
        print("elements replaced by something short: \(checked)")
    }

    @Test("The payload of a receipt with any element replaced by a short one is read or refused")
    func attributes() async throws {
        let verifier = try verifier()
        var container = DERTree(try MintedWorld.mint())
        let payload = container[1, 0, 2, 1, 0].content
        var refused = 0
        for fragment in Self.fragments {
            for variant in variants(of: DERTree(payload), fragment) where variant.bytes != payload {
                await Task.yield()
                container[1, 0, 2, 1, 0].content = variant.bytes
                // It was not signed again, so it is read but never accepted.
                #expect(verifier.inspect(container.bytes, policies: []).firstFailure != nil)
                refused += 1
            }
        }
        print("attributes replaced by something short: \(refused)")
    }
}
