import Crypto
import Foundation

/// The parts of signed evidence that the floors need: each signature in it, the content that it covers, and the signer.
/// Like `ReceiptParts`, it is a separate reader.
struct SignedEvidenceParts {
    /// The description of the evidence.
    let words: String
    /// Checks every signature of the evidence once, with keys and signatures decoded in advance; those of certificates
    /// are not checked.
    let floor: () -> Bool

    init(_ evidence: [UInt8]) throws {
        let text = String(decoding: evidence, as: UTF8.self)
        guard text.contains(".") else {
            (words, floor) = try Self.transactionReceipt(text)
            return
        }
        let signatures = try Self.signatures(text)
        words = "\(signatures.count) P-256 signature\(signatures.count == 1 ? "" : "s")"
        floor = { signatures.allSatisfy { $0.isValid() } }
    }

    /// The signature of a JWS and of every JWS in it.
    private static func signatures(_ jws: String) throws -> [ReadyJWS] {
        let parts = jws.split(separator: ".").map(String.init)
        guard parts.count == 3,
            let header = try JSONSerialization.jsonObject(with: try decoded(parts[0])) as? [String: Any],
            let leaf = (header["x5c"] as? [String])?.first.flatMap({ Data(base64Encoded: $0) })
        else { throw BenchmarkError("signed data is not as expected") }
        let payload = try decoded(parts[1])
        let nested = String(decoding: payload, as: UTF8.self).split(separator: "\"").filter { $0.hasPrefix("eyJ") }
        let key = try CertificateParts(der: [UInt8](leaf)).publicKeyInfo
        let own = ReadyJWS(
            signingInput: Array("\(parts[0]).\(parts[1])".utf8),
            key: try P256.Signing.PublicKey(derRepresentation: key),
            signature: try P256.Signing.ECDSASignature(rawRepresentation: try decoded(parts[2])))
        return [own] + (try nested.flatMap { try signatures(String($0)) })
    }

    private static func decoded(_ base64URL: String) throws -> Data {
        let plain = base64URL.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - plain.count % 4) % 4)
        guard let data = Data(base64Encoded: plain + padding) else { throw BenchmarkError("no base64url") }
        return data
    }

    private static func transactionReceipt(_ base64: String) throws -> (String, () -> Bool) {
        guard let list = Data(base64Encoded: base64).map({ String(decoding: $0, as: UTF8.self) }),
            let field = try value("signature", list), let purchaseInfo = try value("purchase-info", list),
            let version = field.first, (2...4).contains(version)
        else { throw BenchmarkError("the transaction receipt is not as expected") }
        let size = version == 2 ? 128 : 256
        let certificate = try CertificateParts(der: Array(field[(1 + size + 4)...]))
        let signature = try ReadySignature(
            [version] + purchaseInfo, isSHA1: version < 4, signature: Array(field[1...size]),
            key: certificate.publicKeyInfo)
        return ("version \(version), RSA-\(size * 8), \(version < 4 ? "SHA-1" : "SHA-256")", signature.isValid)
    }

    private static func value(_ key: String, _ list: String) throws -> [UInt8]? {
        guard let start = list.range(of: "\"\(key)\" = \"")?.upperBound,
            let end = list[start...].firstIndex(of: "\"")
        else { return nil }
        return Data(base64Encoded: String(list[start..<end])).map { [UInt8]($0) }
    }
}

/// One P-256 verification with everything prepared in advance: only the digest and the signature check remain.
private struct ReadyJWS {
    let signingInput: [UInt8]
    let key: P256.Signing.PublicKey
    let signature: P256.Signing.ECDSASignature

    func isValid() -> Bool {
        var hash = SHA256()
        signingInput.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return key.isValidSignature(signature, for: hash.finalize())
    }
}
