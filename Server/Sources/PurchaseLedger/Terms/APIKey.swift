import Crypto
import Foundation
public import PurchaseVerification

/// A key for the HTTP API. Only the SHA-256 of its text is stored.
public struct APIKey: Sendable, Equatable {
    /// Its public name in the record and in logs.
    public var id: String
    /// The app that it belongs to.
    public var app: String
    /// The operator's name for it.
    public var name: String
    public var scopes: Set<APIKeyScope>
    public var createdAt: Timestamp
    public var revokedAt: Timestamp?
    /// When it was last used, to about a minute; only in lists.
    public var usedAt: Timestamp?
    /// Where its app moved; only in a lookup.
    public var movedTo: String?

    /// Whether the key covers a scope. A backend may do what its app may.
    public func allows(_ scope: APIKeyScope) -> Bool {
        scopes.contains(scope) || scopes.contains(.admin) || scope == .client && scopes.contains(.backend)
    }

    /// Whether it is on the devices of customers, so that one of them must not use up what all have.
    public var isOfDevices: Bool { scopes == [.client] }
}

/// The permissions of a key.
public enum APIKeyScope: String, Sendable, CaseIterable {
    /// Apps: submit purchases.
    case client
    /// The operator's servers: submit purchases; orders, entitlements, balances, the record.
    case backend
    /// Everything.
    case admin
}

/// The text of a key: `assay_`, its id, `_`, and 256 random bits in base64url.
public struct APIKeyText: Sendable {
    /// The maximum length of a key's text, in bytes.
    public static let largestBytes = 128

    /// The part that identifies the key.
    public let id: String
    /// SHA-256 of the whole text.
    let digest: SHA256.Digest
    /// The text of a new key, which is shown once.
    public let text: String

    /// The bytes of the digest.
    package var sha256: [UInt8] { Array(digest) }

    /// Creates a new key.
    static func random() -> APIKeyText {
        let id = randomBytes(8).hexadecimal
        let secret = Base64Form(isURLSafe: true, isPadded: false).encoded(randomBytes(32))
        return APIKeyText(id: id, text: "assay_\(id)_\(String(decoding: secret, as: UTF8.self))")
    }

    /// Reads a key that was sent; `nil` if its format is wrong.
    public init?(_ text: String) {
        let bytes = Array(text.utf8.prefix(Self.largestBytes + 1))
        let prefix = Array("assay_".utf8)
        let end = prefix.count + 16
        guard bytes.count <= Self.largestBytes, bytes.count > end, bytes.starts(with: prefix),
            bytes[end] == UInt8(ascii: "_")
        else {
            return nil
        }
        self.init(id: String(decoding: bytes[prefix.count..<end], as: UTF8.self), text: text)
    }

    private init(id: String, text: String) {
        self.id = id
        self.text = text
        digest = SHA256.hash(data: Data(text.utf8))
    }

    private static func randomBytes(_ count: Int) -> [UInt8] {
        SymmetricKey(size: SymmetricKeySize(bitCount: count * 8)).withUnsafeBytes { Array($0) }
    }
}
