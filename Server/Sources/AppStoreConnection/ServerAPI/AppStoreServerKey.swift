import Crypto
import Foundation

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
