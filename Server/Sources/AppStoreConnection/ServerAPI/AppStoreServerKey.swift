import Crypto
import Foundation
import Synchronization

/// A key of the App Store Server API, as App Store Connect issues it. Its private part is never printed.
public struct AppStoreServerKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The issuer of the team's keys, a UUID.
    public let issuerID: String
    /// The number of the key.
    public let keyID: String
    private let privateKey: P256.Signing.PrivateKey

    /// How far in the past tokens and offers are dated, in seconds: Apple refuses what is from the future by its own
    /// clock, and this machine's may be ahead.
    public static let backdating: Int64 = 60

    /// A key.
    ///
    /// - Parameters:
    ///   - issuerID: the issuer id of App Store Connect.
    ///   - keyID: the key id.
    ///   - privateKey: the content of the `.p8` file: a P-256 key as PEM.
    /// - Throws: `AppStoreServerKeyError`; it contains nothing of the key.
    public init(
        issuerID: String, keyID: String, privateKey: String
    ) throws(AppStoreServerKeyError) {
        guard !issuerID.isEmpty, issuerID.utf8.count <= 128 else { throw .issuerID }
        guard !keyID.isEmpty, keyID.utf8.count <= 128 else { throw .keyID }
        self.issuerID = issuerID
        self.keyID = keyID
        do {
            self.privateKey = try P256.Signing.PrivateKey(pemRepresentation: privateKey)
        } catch {
            throw .privateKey
        }
    }

    /// Signs the text by ES256 (RFC 7518, section 3.4).
    func signature(of text: String) throws -> [UInt8] {
        Array(try privateKey.signature(for: Data(text.utf8)).rawRepresentation)
    }

    /// Signs the text by ECDSA with SHA-256, as a DER sequence.
    func signatureInDER(of text: String) throws -> [UInt8] {
        Array(try privateKey.signature(for: Data(text.utf8)).derRepresentation)
    }

    /// A JSON Web Signature over claims of the caller, in the form of the App Store: the header has `alg`, `kid`,
    /// `typ`.
    ///
    /// - Parameter payload: the claims, as JSON.
    public func jws(_ payload: [UInt8]) throws -> String {
        let header = try Self.encoded(Header(alg: "ES256", kid: keyID, typ: "JWT"))
        let signed = "\(Self.base64URL(header)).\(Self.base64URL(payload))"
        return "\(signed).\(Self.base64URL(try signature(of: signed)))"
    }

    private struct Header: Encodable {
        let alg, kid, typ: String
    }

    static func encoded(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    static func base64URL(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    public var description: String { "key \(keyID) of \(issuerID)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A key of the App Store Server API cannot be used.
public enum AppStoreServerKeyError: Error, Sendable, Equatable, CustomStringConvertible {
    case issuerID
    case keyID
    case privateKey

    public var description: String {
        switch self {
        case .issuerID: "the issuer id is empty or longer than 128 bytes"
        case .keyID: "the key id is empty or longer than 128 bytes"
        case .privateKey: "the private key is not a P-256 key as PEM; App Store Connect offers it once, as a .p8 file"
        }
    }
}

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
