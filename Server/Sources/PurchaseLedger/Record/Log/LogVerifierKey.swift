import Crypto

/// The public key of a log, as C2SP `signed-note` writes it: `name+id+base64(0x01 ‖ key)`.
public struct LogVerifierKey: Sendable, Equatable {
    /// The maximum length of a name, in bytes. Names are short URLs without a scheme.
    static let longestName = 256
    /// The type byte of Ed25519 (C2SP `signed-note`).
    static let algorithm: UInt8 = 1

    /// The name, which is the origin of the log's checkpoints.
    public let name: String
    /// The first four bytes of SHA-256(name ‖ newline ‖ 0x01 ‖ key).
    public let id: [UInt8]
    /// The 32 bytes of the Ed25519 key (RFC 8032).
    public let key: [UInt8]

    /// Creates a key with a name.
    ///
    /// - Throws: `malformed` if the name has spaces or a plus sign, or the key is not 32 bytes.
    public init(name: String, key: [UInt8]) throws(LogError) {
        guard Self.isName(name.utf8) else {
            throw LogError(
                .malformed,
                "the name of a key has 1 to \(Self.longestName) bytes, without spaces, plus signs or controls")
        }
        guard key.count == 32 else { throw LogError(.malformed, "an Ed25519 key has 32 bytes, found \(key.count)") }
        self.name = name
        self.key = key
        var hash = SHA256()
        hash.update(data: Array(name.utf8) + [0x0A, Self.algorithm] + key)
        id = Array(hash.finalize().prefix(4))
    }

    /// Reads a key in its text form.
    ///
    /// - Throws: `malformed`.
    public init(text: some Collection<UInt8>) throws(LogError) {
        guard text.count <= Self.longestName + 64 else { throw Self.malformed }
        let parts = Array(text).split(separator: 0x2B, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let name = String(validating: parts[0], as: UTF8.self),
            let content = Base64Form.canonicalBytes(parts[2]), content.first == Self.algorithm
        else { throw Self.malformed }
        let key = try LogVerifierKey(name: name, key: Array(content.dropFirst()))
        guard parts[1].elementsEqual(key.id.hexadecimal.utf8) else {
            throw LogError(.malformed, "the id of the key should be \(key.id.hexadecimal)")
        }
        self = key
    }

    /// The text form.
    public var text: String {
        "\(name)+\(id.hexadecimal)+\(Base64Form.canonical([Self.algorithm] + key))"
    }

    /// Whether a signature of a text is by this key.
    func verifies(_ signature: [UInt8], of text: [UInt8]) -> Bool {
        // swift-crypto refuses only lengths other than 32 bytes, which the initializer excludes.
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: key) else { return false }
        return key.isValidSignature(signature, for: text)
    }

    /// Whether text can be a key's name: not empty, bounded, without Unicode spaces, plus signs and control characters.
    static func isName(_ name: some Collection<UInt8>) -> Bool {
        guard (1...longestName).contains(name.count), let text = String(validating: name, as: UTF8.self) else {
            return false
        }
        return text.unicodeScalars.allSatisfy {
            !$0.properties.isWhitespace && $0 != "+" && $0.properties.generalCategory != .control
        }
    }

    private static let malformed = LogError(
        .malformed, "a verifier key has the form name+id+base64, for example of `assay keys signing --for log`")
}
