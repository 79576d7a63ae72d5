import Foundation
import PurchaseVerification
import TestSupport
import Testing

@Suite("Claims are read as Foundation's decoder reads them")
struct ClaimReaderTests {
    private struct Claims: Decodable {
        let revocationReason: Int64?
        let bundleId: String?
        let purchaseDate: Double?
    }

    /// The claims of a transaction with these changes; `nil` if they are refused.
    private func claims(_ changes: [String: String]) throws -> SignedTransaction? {
        let payload = ClaimsText.object(ClaimsText.transaction, changes)
        let anchors = try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
        do {
            let evidence = try PurchaseVerifier(anchors: anchors).verify(
                try HandmadeJWS(payload).bytes(), policies: [])
            guard case .signedTransaction(let transaction) = evidence else { throw CorpusError.empty }
            return transaction
        } catch let error as VerificationError {
            #expect(error.code == .claimsMalformed)
            return nil
        }
    }

    private func foundation(_ changes: [String: String]) -> Claims? {
        try? JSONDecoder().decode(Claims.self, from: Data(ClaimsText.object(ClaimsText.transaction, changes).utf8))
    }

    @Test(
        "A number is the same number, or is refused by both",
        arguments: [
            "0", "-0", "1", "-1", "1.0", "1.5", "-1.5", "1e3", "1E+3", "100e-2", "1e-1", "0.000", "0.1e1",
            "1.20e2", "-12e1", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
            "-9223372036854775809", "12345678901234567890", "1e18", "1e19",
            "123456789012345678", "1234567890123456789", "999999999999999999999", "1e400",
            "10000000000000000000000e-20", "\"1\"", "true", "null", "[]", "{}",
        ])
    func numbers(_ text: String) throws {
        #expect(
            try claims(["revocationReason": text])?.revocationReason?.rawValue
                == foundation(["revocationReason": text])?.revocationReason)
        let date = try claims(["purchaseDate": text])?.purchaseDate
        // Dates have a range, and are rounded down to the millisecond.
        if let date {
            #expect(
                foundation(["purchaseDate": text])?.purchaseDate?.rounded(.down) == Double(date.millisecondsSince1970))
        }
    }

    @Test("A whole number is read exactly, where Foundation's decoder gives up or rounds")
    func exactNumbers() throws {
        #expect(try claims(["revocationReason": "9.223372036854775807e18"])?.revocationReason?.rawValue == .max)
        #expect(try claims(["revocationReason": "-9.223372036854775808e18"])?.revocationReason?.rawValue == .min)
        #expect(try claims(["revocationReason": "0e9"])?.revocationReason?.rawValue == 0)
        #expect(try claims(["revocationReason": "1e-400"]) == nil)
        #expect(try claims(["revocationReason": "1.00000000000000000000000000000001"]) == nil)
    }

    @Test(
        "A text is the same text, or is refused by both",
        arguments: [
            #""""#, #""a""#, #""\"\\\/\b\f\n\r\t""#, #""\u0041\u00e9\u20AC\uD83D\ude00""#, "\"é€😀\u{7F}\u{301}\"",
            #""\u0000""#, #""a\ud83d\ude00b\u0301""#, #""\\u0041""#, "1", "true", "[\"a\"]", "{\"a\":1}", "null",
        ])
    func texts(_ text: String) throws {
        let read = try claims(["bundleId": text])?.bundleID
        let expected = foundation(["bundleId": text])?.bundleId
        #expect(read.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
    }

    @Test("A value without a claim of its own is kept unchanged at any depth")
    func others() throws {
        let read = try claims([
            "later": #"[1,1.0,-2.5,"\u0041",null,true,[],{},{"a":[{"b":false}]}]"#, "price": #""9.90""#,
        ])
        #expect(
            read?.otherClaims == [
                "later": .array([
                    .integer(1), .integer(1), .number(-2.5), .string("A"), .null, .boolean(true), .array([]),
                    .object([:]),
                    .object(["a": .array([.object(["b": .boolean(false)])])]),
                ]), "price": .string("9.90"),
            ])
        #expect(try claims(["later": "[1e400]"]) == nil)
    }
}
