import Foundation
import Synchronization

/// The tokens of the App Store Server API. Each is used for half of its life, and then replaced. One that Apple refused
/// is kept, too: if this machine's clock is ahead, Apple accepts it a moment later.
final class ServerTokens: Sendable {
    /// The life of a token, in seconds. Apple accepts at most an hour.
    static let life: Int64 = 1200

    private let tokens = Mutex<[Key: Token]>([:])
    private let time: @Sendable () -> Date

    private struct Key: Hashable {
        let issuerID: String
        let keyID: String
        let bundleID: String
    }

    private struct Token {
        let text: String
        let issuedAt: Int64
    }

    /// The claims (Apple, "Generating JSON Web Tokens for API requests").
    private struct Claims: Encodable {
        let iss: String
        let iat: Int64
        let exp: Int64
        let aud = "appstoreconnect-v1"
        let bid: String
    }

    init(time: @escaping @Sendable () -> Date) { self.time = time }

    /// A token for an app.
    ///
    /// - Throws: the errors of the signature.
    func token(of key: AppStoreServerKey, for bundleID: String) throws -> String {
        let id = Key(issuerID: key.issuerID, keyID: key.keyID, bundleID: bundleID)
        let now = Int64(time().timeIntervalSince1970)
        if let known = tokens.withLock({ $0[id] }), (0..<Self.life / 2).contains(now - known.issuedAt) {
            return known.text
        }
        let issued = now - AppStoreServerKey.backdating
        let claims = Claims(iss: key.issuerID, iat: issued, exp: issued + Self.life, bid: bundleID)
        let text = try key.jws(try AppStoreServerKey.encoded(claims))
        tokens.withLock { $0[id] = Token(text: text, issuedAt: now) }
        return text
    }
}
