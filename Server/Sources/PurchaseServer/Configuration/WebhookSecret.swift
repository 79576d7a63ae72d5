import Crypto
import Foundation

/// A secret of the Standard Webhooks form: `whsec_` and 24 to 64 bytes in base64. Its text is never printed.
public struct WebhookSecret: Sendable, Equatable, CustomStringConvertible {
    private let bytes: [UInt8]

    private static let prefix = "whsec_"
    /// Standard Webhooks, "Signature scheme": between 24 and 64 bytes.
    private static let sizes = 24...64

    /// A secret; `nil` for a text of another form.
    public init?(_ text: String) {
        guard text.utf8.starts(with: Self.prefix.utf8),
            let data = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))), Self.sizes.contains(data.count)
        else { return nil }
        bytes = [UInt8](data)
    }

    public var description: String { "whsec_…" }

    /// Base64 of the HMAC-SHA256 of a message: its id, its time and its body, with a period between them.
    func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
        var hash = HMAC<SHA256>(key: SymmetricKey(data: bytes))
        hash.update(data: Data("\(id).\(timestamp).".utf8))
        hash.update(data: body)
        return Data(hash.finalize()).base64EncodedString()
    }
}
