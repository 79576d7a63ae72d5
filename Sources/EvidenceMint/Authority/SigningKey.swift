public import Crypto
public import CryptoExtras
import Foundation

/// A private key of any kind that this module signs with.
public enum SigningKey: Sendable {
    /// The kind of key in the whole chain of Apple's receipts.
    case rsa(_RSA.Signing.PrivateKey)
    /// The kind of key in the leaves that sign App Store data.
    case p256(P256.Signing.PrivateKey)
    /// The kind of key in the intermediates and the root above such leaves.
    case p384(P384.Signing.PrivateKey)

    /// A new RSA key with exponent 65537.
    /// - Parameter bits: the size of the modulus, a multiple of 8, from 1024. Apple's receipt keys have 2048.
    /// - Throws: `CryptoKitError` for a smaller size.
    public static func makeRSA(bits: Int = 2048) throws -> SigningKey {
        .rsa(try _RSA.Signing.PrivateKey(unsafeKeySize: _RSA.Signing.KeySize(bitCount: bits)))
    }

    /// A new key on the curve P-256.
    public static func makeP256() -> SigningKey {
        .p256(P256.Signing.PrivateKey())
    }

    /// A new key on the curve P-384.
    public static func makeP384() -> SigningKey {
        .p384(P384.Signing.PrivateKey())
    }

    /// The private half as PEM (PKCS #8, RFC 5958).
    public var pem: String {
        switch self {
        case .rsa(let key): key.pkcs8PEMRepresentation
        case .p256(let key): key.pemRepresentation
        case .p384(let key): key.pemRepresentation
        }
    }

    /// Reads a private key of any of the kinds; nil for anything else.
    public init?(pem: String) {
        // Transaction receipts of version 2 are signed with 1024 bits, which only the unsafe way reads.
        if let key = try? _RSA.Signing.PrivateKey(unsafePEMRepresentation: pem) {
            self = .rsa(key)
        } else if let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) {
            self = .p256(key)
        } else if let key = try? P384.Signing.PrivateKey(pemRepresentation: pem) {
            self = .p384(key)
        } else {
            return nil
        }
    }

    /// The public half as a DER SubjectPublicKeyInfo (RFC 5280, 4.1.2.7).
    public var publicKeyInfo: [UInt8] {
        switch self {
        case .rsa(let key): [UInt8](key.publicKey.derRepresentation)
        case .p256(let key): [UInt8](key.publicKey.derRepresentation)
        case .p384(let key): [UInt8](key.publicKey.derRepresentation)
        }
    }

    /// A SubjectPublicKeyInfo for any modulus and exponent, big-endian, even if no private key for it exists.
    public static func rsaPublicKeyInfo(modulus: [UInt8], exponent: [UInt8]) -> [UInt8] {
        DER.sequence(
            DER.sequence(KnownOID.rsaEncryption.der, DER.null),
            DER.bitString(DER.sequence(DER.integer(magnitude: modulus), DER.integer(magnitude: exponent)))
        )
    }
}

extension SigningKey {
    /// Sixteen octets that are unique to the key, positive as RFC 5280, 4.1.2.2 requires.
    var serialNumber: [UInt8] {
        var octets = Array(ReceiptDigest.sha256.hash(publicKeyInfo).prefix(16))
        octets[0] = octets[0] & 0x7F | 0x40
        return octets
    }

    /// A signature over the bytes: PKCS#1 v1.5 (RFC 8017, 8.2), or an ECDSA-Sig-Value (RFC 3279, 2.2.3).
    func signature(of bytes: [UInt8], digest: ReceiptDigest) throws -> [UInt8] {
        switch digest {
        case .sha1: try signature(for: Insecure.SHA1.hash(data: bytes))
        case .sha256: try signature(for: SHA256.hash(data: bytes))
        case .sha384: try signature(for: SHA384.hash(data: bytes))
        case .sha512: try signature(for: SHA512.hash(data: bytes))
        }
    }

    private func signature(for digest: some Digest) throws -> [UInt8] {
        switch self {
        case .rsa(let key):
            [UInt8](try key.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation)
        case .p256(let key):
            [UInt8](try key.signature(for: digest).derRepresentation)
        case .p384(let key):
            [UInt8](try key.signature(for: digest).derRepresentation)
        }
    }
}
