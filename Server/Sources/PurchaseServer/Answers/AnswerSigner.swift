import Crypto
import Foundation
import PurchaseAPI
import PurchaseLedger

/// Signs answers to apps (RFC 9421, with Ed25519).
public struct AnswerSigner: Sendable {
    private static let prefix = "assay-answer-key-1 "

    private let key: Curve25519.Signing.PrivateKey
    /// The time that signatures state, in seconds since 1970. `assay dev` gives it the simulated store's.
    package var clock: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }
    /// The id of the key in signatures: the first 8 bytes of its SHA-256 digest, in hexadecimal.
    public let keyID: String

    /// A new key.
    public init() { self.init(Curve25519.Signing.PrivateKey()) }

    /// Reads a key in the form of its file; `nil` for other text.
    public init?(text: String) {
        let line = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard line.hasPrefix(Self.prefix), let seed = Data(base64Encoded: String(line.dropFirst(Self.prefix.count))),
            // The only reason is the length.
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed)
        else { return nil }
        self.init(key)
    }

    private init(_ key: Curve25519.Signing.PrivateKey) {
        self.key = key
        keyID = SHA256.hash(data: key.publicKey.rawRepresentation).prefix(8).hexadecimal
    }

    /// The private key as one line of its file: a secret.
    public var secretText: String { Self.prefix + key.rawRepresentation.base64EncodedString() }

    /// The public key in base64, which apps pin.
    public var publicKey: String { key.publicKey.rawRepresentation.base64EncodedString() }

    /// Signs a customer token.
    func signature(of token: Data) throws -> Data { try key.signature(for: token) }

    func isSignature(_ signature: Data, of token: Data) -> Bool {
        key.publicKey.isValidSignature(signature, for: token)
    }

    /// Signs a message.
    func signature(
        of message: AnswerSignature.Message, _ wanted: AnswerSignature.Wanted
    ) throws -> (input: String, signature: String) {
        let parameters = AnswerSignature(
            label: wanted.label, created: clock(), keyID: keyID, nonce: wanted.nonce)
        let signature = try key.signature(for: parameters.base(of: message))
        return (parameters.input, parameters.field(signature: [UInt8](signature)))
    }
}
