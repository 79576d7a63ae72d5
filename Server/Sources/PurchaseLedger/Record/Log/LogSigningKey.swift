import Crypto

/// The private Ed25519 key of a log. Its text form is the one of Go's `sumdb/note`:
/// `PRIVATE+KEY+name+id+base64(0x01 ‖ seed)`.
public struct LogSigningKey: Sendable {
    private static let prefix = Array("PRIVATE+KEY+".utf8)

    /// The public key.
    public let verifier: LogVerifierKey
    private let seed: [UInt8]

    /// Creates a key for a log with an origin, such as `example.com/assay`.
    ///
    /// - Throws: `malformed` if the origin has spaces or a plus sign.
    public init(newFor origin: String) throws(LogError) {
        try self.init(name: origin, seed: Array(Curve25519.Signing.PrivateKey().rawRepresentation))
    }

    /// Whether text can be the origin of a log: bounded, without spaces, plus signs and control characters.
    public static func isOrigin(_ text: String) -> Bool { LogVerifierKey.isName(text.utf8) }

    /// Reads a key in its text form, with or without a newline at its end.
    ///
    /// - Throws: `malformed`.
    public init(text: [UInt8]) throws(LogError) {
        let line = text.last == 0x0A ? text.dropLast() : text[...]
        let malformed = LogError(.malformed, "the file contains no signing key of a log (PRIVATE+KEY+…)")
        guard line.starts(with: Self.prefix), line.count <= LogVerifierKey.longestName + 128 else { throw malformed }
        let parts = line.dropFirst(Self.prefix.count)
            .split(separator: 0x2B, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let name = String(validating: parts[0], as: UTF8.self),
            let content = Base64Form.canonicalBytes(parts[2]), content.first == LogVerifierKey.algorithm
        else { throw malformed }
        try self.init(name: name, seed: Array(content.dropFirst()))
        guard parts[1].elementsEqual(verifier.id.hexadecimal.utf8) else { throw malformed }
    }

    private init(name: String, seed: [UInt8]) throws(LogError) {
        // The only possible reason is the length.
        guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed) else {
            throw LogError(.malformed, "an Ed25519 seed has 32 bytes, found \(seed.count)")
        }
        verifier = try LogVerifierKey(name: name, key: Array(key.publicKey.rawRepresentation))
        self.seed = seed
    }

    /// The text form, which is a secret.
    package var text: String {
        let content = Base64Form.canonical([LogVerifierKey.algorithm] + seed)
        return "PRIVATE+KEY+\(verifier.name)+\(verifier.id.hexadecimal)+\(content)"
    }

    /// Signs a checkpoint. `CheckpointSigner` checks that the log extends the last signed tree.
    package func signed(_ checkpoint: Checkpoint) throws(LogError) -> SignedCheckpoint {
        guard let signature = signature(of: checkpoint.text) else {
            throw LogError(.malformed, "the signing key cannot sign")
        }
        return SignedCheckpoint(checkpoint, by: verifier, signature: signature)
    }

    /// The signature of a text (RFC 8032); `nil` if swift-crypto cannot sign, which the caller reports.
    package func signature(of text: [UInt8]) -> [UInt8]? {
        guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed),
            let signature = try? key.signature(for: text)
        else { return nil }
        return Array(signature)
    }
}
