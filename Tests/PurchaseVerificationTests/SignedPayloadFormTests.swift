import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport
import Testing

/// Forms of JSON with the same meaning, and forms that are not JSON.
@Suite("The form of signed claims")
struct SignedPayloadFormTests {
    private func verify(_ evidence: [UInt8]) throws(any Error) -> VerifiedEvidence {
        let anchors = try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
        return try PurchaseVerifier(anchors: anchors).verify(evidence, policies: [])
    }

    @Test(
        "A member of a notification that is null is absent",
        arguments: ["data", "summary", "appData", "externalPurchaseToken", "subtype"])
    func null(name: String) throws {
        let payload = ClaimsText.object(ClaimsText.notification, [name: "null"])
        guard case .notification(let read) = try verify(try HandmadeJWS(payload).bytes()) else {
            throw CorpusError.empty
        }
        #expect(read.notificationType?.rawValue == "TEST")
        #expect(read.data == nil && read.summary == nil && read.subtype == nil && read.otherClaims.isEmpty)
    }

    @Test(
        "Claims and headers in encodings other than UTF-8 are refused",
        arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf16, .utf32LittleEndian, .utf32BigEndian])
    func encodings(encoding: String.Encoding) throws {
        // Read as bytes, half of a letter looks like a quote, and the rest like a string.
        let nest = String(repeating: "[", count: 400) + String(repeating: "]", count: 400)
        for more in ["1", "[\"\u{2241}\u{4122}\",\(nest)]"] {
            let payload = ClaimsText.object(ClaimsText.transaction, ["more": more])
            var text = try HandmadeJWS(payload)
            text.payloadBytes = [UInt8](try #require(payload.data(using: encoding)))
            let error = #expect(throws: VerificationError.self) { try verify(try text.bytes()) }
            #expect(error?.code == .claimsMalformed)
        }
    }

    @Test("White space around a transaction receipt is ignored, in base64 and in plain text")
    func whiteSpace() throws {
        let bare = try MintedWorld.mint(MintedWorld.transactionReceipt(), .four)
        for (before, after) in [("", "\n"), ("\n", ""), ("\r\n ", "\t\r\n")] {
            let list = Array(before.utf8) + bare + Array(after.utf8)
            for evidence in [list, Array(Data(list).base64EncodedString().utf8)] {
                guard case .transactionReceipt(let read) = try verify(evidence) else { throw CorpusError.empty }
                #expect(read.transactionID == "2000000000000004")
            }
        }
    }
}
