import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport
import Testing

@Suite("Hostile bytes")
struct HostileBytesTests {
    private func verifier() throws -> PurchaseVerifier {
        PurchaseVerifier(anchors: [try TrustAnchor(certificate: try MintedWorld.authority().root.certificate)])
    }

    @Test("Every proper prefix is refused, and the whole is accepted", arguments: [SigningOptions(), .xcode])
    func prefixes(_ signing: SigningOptions) throws {
        let verifier = try verifier()
        let evidence = try MintedWorld.mint(signing: signing)
        for count in 0..<evidence.count {
            #expect(throws: VerificationError.self) {
                try verifier.verifyAppReceipt(Array(evidence[..<count]), policies: [])
            }
        }
        #expect(try verifier.verifyAppReceipt(evidence, policies: []).inAppPurchases.count == 3)
    }

    @Test("A receipt with a flipped bit is refused, or verifies with unchanged content")
    func flippedBits() throws {
        let verifier = try verifier()
        let evidence = try MintedWorld.mint()
        let receipt = try verifier.verifyAppReceipt(evidence, policies: [])
        var refused = 0
        var unchanged = 0
        // One bit of each byte, a different one each time; `make torture` flips all of them.
        for offset in evidence.indices {
            var changed = evidence
            changed[offset] ^= 1 << UInt8(offset % 8)
            do throws(VerificationError) {
                let other = try verifier.verifyAppReceipt(changed, policies: [])
                #expect(other == receipt, "byte \(offset)")
                unchanged += 1
            } catch {
                refused += 1
            }
        }
        print(
            "flipped bits: \(refused) refused, \(unchanged) without effect (in the embedded root, which nobody needs)")
        #expect(refused > unchanged)
    }

    @Test("Random bytes and random edits never cause a crash, and are refused or have no effect")
    func randomEdits() throws {
        let verifier = try verifier()
        let evidence = try MintedWorld.mint(signing: .xcode)
        let receipt = try verifier.verifyAppReceipt(evidence, policies: [])
        var random = SeededGenerator(seed: 20_261_121)
        for _ in 0..<3000 {
            var bytes = evidence
            for _ in 0...Int.random(in: 0..<4, using: &random) {
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
            do throws(VerificationError) {
                let other = try verifier.verifyAppReceipt(bytes, policies: [])
                #expect(other == receipt)
            } catch {
                #expect(error.code.stage == .form || error.code.stage == .authenticity, "\(error)")
            }
            _ = verifier.inspect(bytes, policies: [])
        }
    }

    @Test("The facts in an error do not grow with the evidence")
    func boundedFacts() throws {
        let tree = DERTree(try MintedWorld.mint())
        let long = [UInt8](repeating: 0x2A, count: 1_000_000)
        let changes: [(inout DERTree) -> Void] = [
            { $0[0].content = long }, { $0.signedPayload[0].content = long }, { $0.signerInfo[1, 1].content = long },
            { $0.signerInfo[2, 0].content = long }, { $0.signerInfo[3, 0].content = long },
            {
                $0.signedPayload[3, 0, 0, 3].children = [DERTree](
                    repeating: $0.signedPayload[3, 0, 0, 3, 0], count: 20_000)
            },
        ]
        for change in changes {
            var changed = tree
            change(&changed)
            let verifier = try verifier()
            do throws(VerificationError) {
                _ = try verifier.verifyAppReceipt(changed.bytes, policies: [])
                Issue.record("accepted")
            } catch {
                #expect((error.expected ?? "").utf8.count <= 1024)
                #expect((error.found ?? "").utf8.count <= 1024)
            }
        }
    }

    @Test("Nested indefinite lengths are refused at once, at any depth")
    func deepNest() throws {
        let verifier = try verifier()
        var bytes: [UInt8] = []
        for _ in 0..<1_000_000 { bytes += [0x30, 0x80] }
        #expect(throws: VerificationError.self) { try verifier.verifyAppReceipt(bytes, policies: []) }
    }
}

/// A generator that gives the same numbers for the same seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
