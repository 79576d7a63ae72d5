import Crypto
import Foundation
import PurchaseVerification

/// A secret that is shown once: the end of a link that sets a password, or the value of a session's cookie. The
/// database stores its SHA-256.
public struct OneTimeLink: Sendable {
    /// 256 random bits in base64url.
    public let text: String

    /// The largest text that is hashed, in bytes.
    private static let largestBytes = 64

    /// A new secret.
    public static func random() -> OneTimeLink {
        let bytes = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
        let text = Base64Form(isURLSafe: true, isPadded: false).encoded(bytes)
        return OneTimeLink(text: String(decoding: text, as: UTF8.self))
    }

    private init(text: String) { self.text = text }

    /// A secret that was sent; `nil` if it is too long to be one.
    public init?(sent text: String) {
        guard text.utf8.count <= Self.largestBytes else { return nil }
        self.text = text
    }

    /// SHA-256 of the text.
    public var sha256: [UInt8] { Array(SHA256.hash(data: Data(text.utf8))) }
}
