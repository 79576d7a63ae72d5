import Crypto
import CryptoExtras
import Foundation

/// Signatures over changed content, created again so that the code after the signature check is reached.
enum Digests {
    /// RSASSA-PKCS1-v1_5, as in transaction receipts.
    static func signature(of message: Data, _ key: _RSA.Signing.PrivateKey, isSHA256: Bool) -> [UInt8]? {
        let signature =
            isSHA256
            ? try? key.signature(for: SHA256.hash(data: message), padding: .insecurePKCS1v1_5)
            : try? key.signature(for: Insecure.SHA1.hash(data: message), padding: .insecurePKCS1v1_5)
        return signature.map { [UInt8]($0.rawRepresentation) }
    }

    /// ES256, as in signed data.
    static func signature(of message: Data, _ key: P256.Signing.PrivateKey) -> [UInt8]? {
        (try? key.signature(for: message)).map { [UInt8]($0.rawRepresentation) }
    }
}
