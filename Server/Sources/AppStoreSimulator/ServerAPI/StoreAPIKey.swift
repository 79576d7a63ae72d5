import Crypto
import Foundation

/// A key that signs the tokens of the App Store Server API. The store keeps its public half.
struct StoreAPIKey: Codable, Equatable, Sendable {
    let keyID: String
    /// The issuer of the developer, the same for several keys.
    let issuerID: String
    /// The only app of the key; nil for all apps.
    let bundleID: String?
    /// PEM.
    let publicKey: String

    /// The key, for its owner: with the private half, which the store does not keep.
    struct Handout: Encodable, Sendable {
        let issuerID: String
        let keyID: String
        let bundleID: String?
        /// PKCS #8 in PEM.
        let privateKey: String
    }

    /// Makes a key.
    /// - Parameter issuerID: nil makes a new issuer.
    static func make(issuerID: String?, bundleID: String?) -> (key: StoreAPIKey, handout: Handout) {
        let pair = P256.Signing.PrivateKey()
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        let keyID = String((0..<10).map { _ in letters[Int.random(in: 0..<letters.count)] })
        let issuer = issuerID ?? UUID().uuidString.lowercased()
        return (
            StoreAPIKey(
                keyID: keyID, issuerID: issuer, bundleID: bundleID, publicKey: pair.publicKey.pemRepresentation),
            Handout(issuerID: issuer, keyID: keyID, bundleID: bundleID, privateKey: pair.pemRepresentation)
        )
    }

    /// Whether it made a signature of JWS, r and s one after the other.
    func isSignature(_ signature: Data, of signed: Data) -> Bool {
        do {
            let key = try P256.Signing.PublicKey(pemRepresentation: publicKey)
            return key.isValidSignature(try P256.Signing.ECDSASignature(rawRepresentation: signature), for: signed)
        } catch {
            // Another length.
            return false
        }
    }
}
