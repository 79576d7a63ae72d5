import Foundation

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// The public keys of the server's answers, which the app pins: the current one and the next one, as
/// `assay keys signing --for answers` prints them.
///
/// With both in the app, the operator can change to the next key without an update of the app. A new version of the app
/// then pins that key and the one after it.
public struct AnswerKeys: Sendable {
    private let keys: [(id: String, key: Curve25519.Signing.PublicKey)]

    /// - Parameters:
    ///   - current: the key that signs now, in base64.
    ///   - next: the key that will sign after it.
    /// - Throws: `PurchaseError` with the code `field_missing` if a text is not an Ed25519 key.
    public init(current: String, next: String? = nil) throws {
        keys = try [current, next].compactMap(\.self).map { text in
            guard let bytes = Data(base64Encoded: text), bytes.count == 32,
                let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes)
            else { throw PurchaseError(.fieldMissing, expected: "an Ed25519 key: 32 bytes in base64") }
            return (Self.id(of: Array(bytes)), key)
        }
    }

    func key(_ id: String) -> Curve25519.Signing.PublicKey? { keys.first { $0.id.utf8.elementsEqual(id.utf8) }?.key }

    /// The id of a key: the first 8 bytes of its SHA-256 digest, in hexadecimal.
    static func id(of key: [UInt8]) -> String { SHA256.hash(data: key).prefix(8).hexadecimal }
}

extension Sequence<UInt8> {
    var hexadecimal: String { map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
}
