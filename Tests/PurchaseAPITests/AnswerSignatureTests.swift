import Foundation
import PurchaseAPI
import Testing

@Suite("Structured fields and the signature of answers")
struct AnswerSignatureTests {
    @Test(
        "A document that was read is written back unchanged",
        arguments: [
            "", "a=1", "a=-999999999999999, b", "sha-256=:AAEC:", #"a="\"\\ x";p=1;q"#, "a=(), b=(1 2);x", "a;b=?0",
            #"sig=("@status" "content-digest";req);created=1700000000;nonce="x";tag="assay-answer""#, "t=*to/ken:x",
        ])
    func roundTrip(text: String) throws {
        let dictionary = try #require(StructuredDictionary(text))
        #expect(dictionary.text == text)
    }

    @Test(
        "Malformed fields are refused",
        arguments: [
            "a=", "a,", "a=1,", "A=1", "a=1 b=2", "a=1, a=2", "a;b=1;b=2", "a=(1", "a=(1,2)", "a=\"", "a=\"\u{e9}\"",
            "a=:!:",
            "a=?2", "a=1234567890123456", "a=1.5", "a=:AA", "=1", ",", "a=@1", "a=\"x\\y\"",
        ])
    func malformed(text: String) { #expect(StructuredDictionary(text) == nil) }

    @Test("A field beyond the limits is refused, and the largest within them is read")
    func limits() {
        #expect(StructuredDictionary((0..<16).map { "k\($0)=1" }.joined(separator: ", ")) != nil)
        #expect(StructuredDictionary((0..<17).map { "k\($0)=1" }.joined(separator: ", ")) == nil)
        #expect(StructuredDictionary("a" + (0..<17).map { ";k\($0)" }.joined()) == nil)
        #expect(StructuredDictionary("a=(" + (0..<17).map { "\($0)" }.joined(separator: " ") + ")") == nil)
        #expect(StructuredDictionary("a=\"" + String(repeating: "x", count: 4092) + "\"") != nil)
        #expect(StructuredDictionary("a=\"" + String(repeating: "x", count: 4093) + "\"") == nil)
    }

    @Test("Every proper prefix of a signature's field is refused, or is another field")
    func prefixes() throws {
        let text = AnswerSignature(label: "assay", created: 1, keyID: "k", nonce: "n").input
        let whole = try #require(StructuredDictionary(text))
        for length in 0..<text.utf8.count {
            #expect(StructuredDictionary(String(text.prefix(length))) != whole)
        }
    }

    @Test("B.5 The signed text is that of RFC 9421, with the path of the request")
    func base() {
        let signature = AnswerSignature(label: "assay", created: 1_700_000_000, keyID: "0011", nonce: "bm9uY2U=")
        let message = AnswerSignature.Message(
            status: 200, contentType: "application/json", contentDigest: "sha-256=:AA==:", method: "POST",
            path: "/v1/purchases", requestDigest: "sha-256=:AQ==:")
        let expected = """
            "@status": 200
            "content-type": application/json
            "content-digest": sha-256=:AA==:
            "@method";req: POST
            "@path";req: /v1/purchases
            "content-digest";req: sha-256=:AQ==:
            "@signature-params": ("@status" "content-type" "content-digest" "@method";req "@path";req "content-digest";req);\
            created=1700000000;keyid="0011";alg="ed25519";nonce="bm9uY2U=";tag="assay-answer"
            """
        #expect(String(decoding: signature.base(of: message), as: UTF8.self) == expected)
    }

    @Test("The signature that a request asks for is read back; requests for other signatures are ignored")
    func wanted() throws {
        let wanted = AnswerSignature.Wanted(label: "sig1", nonce: "bm9uY2U=")
        #expect(AnswerSignature.Wanted(acceptSignature: wanted.text) == wanted)
        #expect(AnswerSignature.Wanted(acceptSignature: "other=(\"@status\");tag=\"x\", \(wanted.text)") == wanted)
        for (old, new) in [
            ("assay-answer", "other"), ("\"@status\" ", ""), ("ed25519", "rsa"), ("nonce=\"bm9uY2U=\"", "nonce=\"\""),
            (";nonce=\"bm9uY2U=\"", ""), ("bm9uY2U=", String(repeating: "n", count: 89)),
        ] {
            #expect(
                AnswerSignature.Wanted(acceptSignature: wanted.text.replacingOccurrences(of: old, with: new)) == nil,
                "\(new)")
        }
    }

    @Test("A signature with other components or parameters, or in another order, is not read")
    func otherParameters() throws {
        let signature = AnswerSignature(label: "assay", created: 1, keyID: "k", nonce: "n")
        let field = signature.field(signature: [1, 2])
        let read = try #require(AnswerSignature.read(label: "assay", input: signature.input, signature: field))
        #expect(read.parameters == signature && read.signature == [1, 2])
        for (old, new) in [
            ("\"@status\" ", ""), ("\"@status\"", "\"@authority\""), (";req", ""), ("\"@path\";req ", ""),
            ("created=1;", ""),
            ("assay-answer", "other"),
            ("keyid=\"k\";alg=\"ed25519\"", "alg=\"ed25519\";keyid=\"k\""), ("ed25519", "hmac-sha256"),
            ("assay=(", "other=("),
            (";tag=", ";expires=9;tag="),
        ] {
            let input = signature.input.replacingOccurrences(of: old, with: new)
            #expect(input != signature.input)
            #expect(AnswerSignature.read(label: "assay", input: input, signature: field) == nil, "\(input)")
        }
        #expect(AnswerSignature.read(label: "assay", input: signature.input, signature: "assay=1") == nil)
    }
}
