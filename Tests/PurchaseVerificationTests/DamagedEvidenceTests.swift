import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport
import Testing

@Suite("Damaged evidence")
struct DamagedEvidenceTests {
    private static func verifier() throws -> PurchaseVerifier {
        let anchors = try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
        return PurchaseVerifier(anchors: TrustAnchor.apple + anchors)
    }

    /// Genuine evidence of every kind, bare and in the encodings of clients.
    private static func genuine() throws -> [(name: String, bytes: [UInt8])] {
        let receipt = try MintedWorld.mint()
        let old = try MintedWorld.mint(MintedWorld.transactionReceipt(), .four)
        func base64(_ bytes: [UInt8]) -> [UInt8] { Array(Data(bytes).base64EncodedData()) }
        let lines = Data(receipt).base64EncodedData(options: [.lineLength76Characters])
        let url = base64(receipt).compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: byte
            }
        }
        var evidence = [
            ("receipt", receipt), ("receipt in base64", base64(receipt)), ("receipt in lines", Array(lines)),
            ("receipt in base64url", url), ("transaction receipt", old), ("transaction receipt in base64", base64(old)),
        ]
        for (number, payload) in MintedWorld.signedPayload().enumerated() {
            evidence.append(("signed data \(number)", try MintedWorld.mint(payload)))
        }
        return evidence
    }

    private static func conclusion(_ bytes: [UInt8], _ verifier: PurchaseVerifier) -> EvidenceConclusion? {
        do throws(VerificationError) {
            _ = try verifier.verify(bytes, policies: [])
            return nil
        } catch {
            return error.code.conclusion
        }
    }

    @Test("C.16 No prefix of any evidence in any encoding is taken for forged, and the whole is accepted")
    func prefixes() throws {
        let verifier = try Self.verifier()
        var count = 0
        for (name, bytes) in try Self.genuine() {
            #expect(Self.conclusion(bytes, verifier) == nil, "\(name)")
            for length in 0..<bytes.count {
                let conclusion = Self.conclusion(Array(bytes[..<length]), verifier)
                // White space and padding at the end of base64 may be absent.
                guard conclusion != .unread, !(conclusion == nil && length >= bytes.count - 4) else { continue }
                Issue.record("\(name), \(length) of \(bytes.count): \(String(describing: conclusion))")
            }
            count += bytes.count
        }
        print("prefixes: \(count)")
    }

    @Test(
        "C.16 Evidence without its beginning, in base64 twice, percent-encoded, quoted or in HTML is not taken for forged"
    )
    func wrapped() throws {
        let verifier = try Self.verifier()
        for (name, bytes) in try Self.genuine() {
            let base64 = [UInt8](Data(bytes).base64EncodedData())
            let text = String(decoding: bytes, as: UTF8.self)
            let escaped = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            var damaged = [
                Array(Data(base64).base64EncodedData()), Array(escaped.utf8), Array("\"\(text)\"".utf8),
                Array("<html><body>\(text)</body></html>".utf8), Array("null".utf8), Array("(null)".utf8), [],
            ]
            for cut in [1, 2, 3, 4, 5, 16, 100] { damaged.append(Array(bytes.dropFirst(cut))) }
            for bytes in damaged {
                let conclusion = Self.conclusion(bytes, verifier)
                #expect(conclusion == .unread, "\(name): \(String(decoding: bytes.prefix(20), as: UTF8.self))")
            }
        }
    }

    @Test("C.16 Every code of the form, and of signed content that cannot be read, leaves the purchase undecided")
    func stages() {
        for code in ReasonCode.allCases {
            switch code.stage {
            case .form, .content: #expect(code.conclusion == .unread, "\(code.rawValue)")
            case .authenticity: #expect(code.conclusion != .worthless, "\(code.rawValue)")
            case .policy: #expect(code.conclusion != .forged, "\(code.rawValue)")
            }
        }
        for code in [
            ReasonCode.signatureInvalid, .messageDigestMismatch, .certificateSignatureInvalid, .leafMarkerMissing,
        ] {
            #expect(code.conclusion == .forged)
        }
    }
}
