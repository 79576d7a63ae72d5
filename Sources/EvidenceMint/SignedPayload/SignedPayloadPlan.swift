import Crypto
import CryptoExtras
import Foundation

/// Everything that determines a JWS, before it is signed. Faults change it.
struct SignedPayloadPlan {
    var claims: [Claim]
    /// The bytes that are signed in place of the claims.
    var payload: [UInt8]?
    let signingDateClaim: String
    let signingDate: Date?
    var authority: SignedPayloadAuthority
    /// Certificates to name in `x5c` in place of leaf, intermediate and root.
    var certificates: [[UInt8]]?
    /// The key to sign with in place of the leaf's.
    var signerKey: SigningKey?
    /// The value of `alg`.
    var algorithm = "ES256"
    var hasCertificates = true
    /// Further members of the header, last.
    var extraHeader: [Claim] = []
    var headerStyle = HeaderStyle.appStore
    /// Fills the last group of base64 with `=`, which a JWS must not (RFC 7515, 2).
    var padsBase64 = false

    enum HeaderStyle {
        /// `alg`, `x5c`
        case appStore
        /// `kid`, `typ`, `x5c`, `alg`
        case xcode
    }

    func message() throws -> SignedPayloadMessage {
        var message = SignedPayloadMessage(
            header: header.json(escapesSlashes: headerStyle == .xcode),
            payload: payload ?? ClaimValue.object(claims).json, padsBase64: padsBase64)
        message.signature = try signature(of: message.signedBytes)
        return message
    }

    /// The concatenation of r and s (RFC 7518, 3.4).
    func signature(of bytes: [UInt8]) throws -> [UInt8] {
        switch signerKey ?? authority.leaf.privateKey {
        case .p256(let key): [UInt8](try key.signature(for: SHA256.hash(data: bytes)).rawRepresentation)
        case .p384(let key): [UInt8](try key.signature(for: SHA384.hash(data: bytes)).rawRepresentation)
        case .rsa(let key):
            [UInt8](try key.signature(for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5).rawRepresentation)
        }
    }

    private var header: ClaimValue {
        let x5c =
            certificates ?? [authority.leaf, authority.intermediate, authority.root].map(\.certificate)
        let chain = Claim("x5c", .array(x5c.map { .string(Data($0).base64EncodedString()) }))
        let algorithm = Claim("alg", .string(algorithm))
        let members: [Claim] =
            switch headerStyle {
            case .appStore: [algorithm, chain]
            case .xcode: [Claim("kid", .string("Apple_Xcode_Key")), Claim("typ", .string("JWT")), chain, algorithm]
            }
        return .object(members.filter { hasCertificates || $0.name != "x5c" } + extraHeader)
    }
}

/// A JWS in its compact form (RFC 7515, 7.1), as free as its parts allow.
struct SignedPayloadMessage {
    var header: [UInt8]
    var payload: [UInt8]
    var signature: [UInt8] = []
    var padsBase64 = false
    /// The text after the signature.
    var tail = ""
    /// The number of characters missing from the end.
    var missing = 0

    /// The signing input: header, full stop and payload.
    var signedBytes: [UInt8] { Array(base64(header, payload).utf8) }

    func encoded() -> String { String(base64(header, payload, signature).dropLast(missing)) + tail }

    private func base64(_ parts: [UInt8]...) -> String {
        parts.map { Self.base64($0, isPadded: padsBase64) }.joined(separator: ".")
    }

    /// Base64 in the alphabet for URLs (RFC 4648, 5), which a JWS does not pad.
    static func base64(_ bytes: [UInt8], isPadded: Bool) -> String {
        var text = [UInt8](Data(bytes).base64EncodedData())
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "+"): text[index] = UInt8(ascii: "-")
            case UInt8(ascii: "/"): text[index] = UInt8(ascii: "_")
            default: break
            }
        }
        if !isPadded { while text.last == UInt8(ascii: "=") { text.removeLast() } }
        return String(decoding: text, as: UTF8.self)
    }
}
