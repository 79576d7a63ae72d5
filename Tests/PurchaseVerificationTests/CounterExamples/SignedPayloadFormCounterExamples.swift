import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport

/// Faults of the segments, the header and the signature of signed data.
enum SignedPayloadFormCounterExamples {
    static let all: [CounterExample] = segments + algorithms + header + signature

    /// A genuine signed transaction, changed as text.
    private static func text(
        _ fault: String, _ code: ReasonCode = .jwsMalformed, _ change: @escaping @Sendable ([String]) -> String
    ) -> CounterExample {
        .evidence(code, "segments: \(fault)") {
            let text = try HandmadeJWS(ClaimsText.object(ClaimsText.transaction)).text()
            return Array(change(text.split(separator: ".").map(String.init)).utf8)
        }
    }

    private static let segments: [CounterExample] = [
        text("two") { $0[0] + "." + $0[1] },
        text("four") { ($0 + [$0[2]]).joined(separator: ".") },
        text("a dot at the end") { $0.joined(separator: ".") + "." },
        text("an empty payload") { $0[0] + ".." + $0[2] },
        text("an empty signature") { $0[0] + "." + $0[1] + "." },
        text("an empty header", .evidenceUnrecognized) { "." + $0[1] + "." + $0[2] },
        text("padding behind the signature") { $0.joined(separator: ".") + "==" },
        text("unused bits in the signature") { $0[0] + "." + $0[1] + "." + spelledOtherwise($0[2]) },
        text("a plus sign for a minus sign") { $0[0] + "." + $0[1] + "." + "+" + $0[2].dropFirst() },
        text("a slash for an underscore") { $0[0] + "." + $0[1] + "." + "/" + $0[2].dropFirst() },
        text("a line break in the signature") {
            $0[0] + "." + $0[1] + "." + $0[2].prefix(40) + "\n" + $0[2].dropFirst(40)
        },
        text("a line break in the payload") {
            $0[0] + "." + $0[1].prefix(40) + "\n" + $0[1].dropFirst(40) + "." + $0[2]
        },
        text("a line break in the header") {
            $0[0].prefix(40) + "\n" + $0[0].dropFirst(40) + "." + $0[1] + "." + $0[2]
        },
        text("a space before the payload") { $0[0] + ". " + $0[1] + "." + $0[2] },
        text("a character that is not base64url in the payload") { $0[0] + ".*" + $0[1].dropFirst() + "." + $0[2] },
        text("a length that base64url cannot have") { $0[0] + "." + $0[1] + "." + $0[2].dropLast() },
        text("the payload one character short of a byte") { $0[0] + "." + "AAAAA" + "." + $0[2] },
        text("a payload of 384 KiB", .evidenceTooLarge) {
            $0[0] + "." + String(repeating: "A", count: 3 << 17) + "." + $0[2]
        },
        .evidence(.jwsMalformed, "segments: unused bits in the payload") {
            // 16 bytes leave four unused bits; the claims are the same in the other spelling.
            let jws = try HandmadeJWS(ClaimsText.object(ClaimsText.transaction, ["x": padding(1)]))
            let parts = try jws.text().split(separator: ".").map(String.init)
            return Array((parts[0] + "." + spelledOtherwise(parts[1]) + "." + parts[2]).utf8)
        },
    ]

    /// A claim that makes the payload end in the middle of a group of three bytes.
    private static func padding(_ remainder: Int) -> String {
        for count in 0..<3 {
            let claim = "\"" + String(repeating: "a", count: count) + "\""
            if ClaimsText.object(ClaimsText.transaction, ["x": claim]).utf8.count % 3 == remainder { return claim }
        }
        return ""
    }

    /// The last character replaced by one that differs only in unused bits.
    private static func spelledOtherwise(_ text: String) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        guard text.count % 4 != 0, let last = text.last, let index = alphabet.firstIndex(of: last) else { return text }
        return text.dropLast() + String(alphabet[index ^ 1])
    }

    private static let algorithms: [CounterExample] = algorithmsOfEach + otherAlgorithms

    private static let algorithmsOfEach: [CounterExample] =
        [
            "none", "None", "NONE", "nOnE", "", "HS256", "HS384", "RS256", "PS256", "ES384", "ES512", "ES256K", "es256",
            "ES256 ", "EdDSA",
        ].map { name in
            .header(.jwsAlgorithmUnsupported, "alg '\(name)'") { try HandmadeJWS.header(alg: "\"\(name)\"") }
        }

    private static let otherAlgorithms: [CounterExample] = [
        .header(.jwsAlgorithmUnsupported, "no alg") {
            try HandmadeJWS.header().replacingOccurrences(of: #""alg":"ES256","#, with: "")
        },
        .header(.jwsAlgorithmUnsupported, "alg null") { try HandmadeJWS.header(alg: "null") },
        .header(.jwsHeaderMalformed, "a list of algs") { try HandmadeJWS.header(alg: #"["ES256"]"#) },
        .header(.jwsHeaderMalformed, "alg as a number") { try HandmadeJWS.header(alg: "256") },
        .header(.jwsHeaderMalformed, "alg as an object") { try HandmadeJWS.header(alg: #"{"name":"ES256"}"#) },
        .header(.jwsAlgorithmUnsupported, "ALG in capitals") {
            try HandmadeJWS.header().replacingOccurrences(of: #""alg""#, with: #""ALG""#)
        },
    ]

    private static let header: [CounterExample] = [
        .header(.jwsHeaderMalformed, "17 levels of JSON") {
            try HandmadeJWS.header(more: #","kid":\#(BoundedJSON.nested(levels: 16))"#)
        },
        .header(.jwsHeaderMalformed, "a member name that is not ASCII") {
            try HandmadeJWS.header(more: ",\"e\u{301}\":1")
        },
        .header(.jwsHeaderMalformed, "a second spelling of a member name") {
            try HandmadeJWS.header(more: #","\u0061lg":"none""#)
        },
        .header(.jwsHeaderMalformed, "alg twice") { try HandmadeJWS.header(more: #","alg":"none""#) },
        .header(.jwsHeaderMalformed, "no JSON") { "{\"alg\":ES256}" },
        .header(.jwsHeaderMalformed, "cut JSON") { String(try HandmadeJWS.header().dropLast()) },
        .header(.jwsHeaderMalformed, "something behind the JSON") { try HandmadeJWS.header() + "{}" },
        .header(.jwsAlgorithmUnsupported, "an empty object") { "{ }" },
        .header(.jwsHeaderUnsupported, "crit") { try HandmadeJWS.header(more: #","crit":["b64"],"b64":false"#) },
        .header(.jwsHeaderUnsupported, "crit with nothing in it") { try HandmadeJWS.header(more: #","crit":[]"#) },
        .header(.jwsHeaderUnsupported, "crit null") { try HandmadeJWS.header(more: #","crit":null"#) },
        .header(.jwsHeaderUnsupported, "crit of an expiration") {
            try HandmadeJWS.header(more: #","crit":["exp"],"exp":1"#)
        },
        .header(.certificatesMissing, "no x5c") { #"{"alg":"ES256"}"# },
        .header(.certificatesMissing, "x5c null") { #"{"alg":"ES256","x5c":null}"# },
        .header(.certificatesMissing, "x5c of none") { try HandmadeJWS.header(certificates: []) },
        .header(.certificatesMissing, "a key instead of x5c") { #"{"alg":"ES256","jwk":{"kty":"EC"},"kid":"1"}"# },
        .header(.jwsHeaderMalformed, "x5c as one text") { #"{"alg":"ES256","x5c":"AAAA"}"# },
        .header(.jwsHeaderMalformed, "x5c of numbers") { #"{"alg":"ES256","x5c":[1,2,3]}"# },
        .header(.jwsHeaderMalformed, "x5c of lists") { #"{"alg":"ES256","x5c":[["AAAA"],["AAAA"],["AAAA"]]}"# },
        .header(.jwsCertificateCountUnsupported, "x5c of two") {
            try HandmadeJWS.header(certificates: Array(try HandmadeJWS.chain().prefix(2)))
        },
        .header(.jwsCertificateCountUnsupported, "x5c of four") {
            try HandmadeJWS.header(
                certificates: try HandmadeJWS.chain() + [try MintedWorld.authority().root.certificate])
        },
        .header(.jwsCertificateCountUnsupported, "x5c of a thousand") {
            try HandmadeJWS.header(certificates: [[UInt8]](repeating: [0], count: 1000))
        },
        .header(.jwsHeaderMalformed, "an empty certificate") {
            let chain = try HandmadeJWS.chain()
            return try HandmadeJWS.header(certificates: [chain[0], [], chain[2]])
        },
        .header(.jwsHeaderMalformed, "certificates in base64url") {
            let texts = try HandmadeJWS.chain().map { "\"\(HandmadeJWS.base64URL($0))\"" }
            return #"{"alg":"ES256","x5c":[\#(texts.joined(separator: ","))]}"#
        },
        .header(.jwsHeaderMalformed, "certificates in base64 with line breaks") {
            let texts = try HandmadeJWS.chain().map {
                "\""
                    + Data($0).base64EncodedString(options: .lineLength64Characters)
                    .replacingOccurrences(of: "\r\n", with: "\\n") + "\""
            }
            return #"{"alg":"ES256","x5c":[\#(texts.joined(separator: ","))]}"#
        },
        .header(.jwsHeaderMalformed, "a third certificate that is no base64") {
            try HandmadeJWS.header(certificates: Array(try HandmadeJWS.chain().prefix(2)))
                .replacingOccurrences(of: "\"]}", with: "\",\"*\"]}")
        },
        .header(.certificateMalformed, "a leaf that is no certificate") {
            let chain = try HandmadeJWS.chain()
            return try HandmadeJWS.header(certificates: [[1, 2, 3], chain[1], chain[2]])
        },
        .header(.certificateMalformed, "a leaf with a byte behind it") {
            let chain = try HandmadeJWS.chain()
            return try HandmadeJWS.header(certificates: [chain[0] + [0], chain[1], chain[2]])
        },
        .header(.certificateMalformed, "an intermediate that is no certificate") {
            let chain = try HandmadeJWS.chain()
            return try HandmadeJWS.header(certificates: [chain[0], [1, 2, 3], chain[2]])
        },
    ]

    /// A signed transaction with any signature.
    private static func signature(
        _ code: ReasonCode, _ fault: String, _ change: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) -> CounterExample {
        .evidence(code, "signature: \(fault)") {
            var jws = try HandmadeJWS(ClaimsText.object(ClaimsText.transaction))
            let last = try jws.text().split(separator: ".").map(String.init)[2]
            let base64 = last.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/") + "=="
            jws.signature = change([UInt8](Data(base64Encoded: base64) ?? Data()))
            return try jws.bytes()
        }
    }

    private static let zeros = [UInt8](repeating: 0, count: 32)

    /// The order of P-256 (NIST SP 800-186, 3.2.1.3).
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC, 0xE6, 0xFA, 0xAD,
        0xA7,
        0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    private static let signature: [CounterExample] = [
        signature(.jwsMalformed, "63 bytes") { Array($0.dropLast()) },
        signature(.jwsMalformed, "65 bytes") { $0 + [0] },
        signature(.jwsMalformed, "32 bytes") { Array($0.prefix(32)) },
        signature(.jwsMalformed, "96 bytes") { zeros + $0 },
        signature(.jwsMalformed, "r and s in DER") { signature in
            let integers = [signature.prefix(32), signature.suffix(32)].map { DERTree(tag: 0x02, content: [0] + $0) }
            return DERTree(tag: 0x30, children: integers).bytes
        },
        signature(.signatureInvalid, "r is zero") { zeros + $0.suffix(32) },
        signature(.signatureInvalid, "s is zero") { $0.prefix(32) + zeros },
        signature(.signatureInvalid, "r and s are zero") { _ in zeros + zeros },
        signature(.signatureInvalid, "r is one, s is one") { _ in zeros.dropLast() + [1] + zeros.dropLast() + [1] },
        signature(.signatureInvalid, "r is the order of the curve") { order + $0.suffix(32) },
        signature(.signatureInvalid, "s is the order of the curve") { $0.prefix(32) + order },
        signature(.signatureInvalid, "r and s have changed places") { $0.suffix(32) + $0.prefix(32) },
        signature(.signatureInvalid, "all bits set") { _ in [UInt8](repeating: 0xFF, count: 64) },
    ]
}
