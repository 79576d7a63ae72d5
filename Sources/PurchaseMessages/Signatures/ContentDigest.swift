/// `Content-Digest` (RFC 9530) with SHA-256: the digest of a message's content as it is sent, after any content coding.
public enum ContentDigest {
    /// The name of the field.
    public static let field = "Content-Digest"

    /// The value of the field for a digest.
    public static func text(sha256: [UInt8]) -> String {
        StructuredDictionary("sha-256", .item(StructuredItem(.bytes(sha256)))).text
    }

    /// The SHA-256 digest of a field; `nil` if it has none, or is malformed.
    public static func sha256(_ text: String) -> [UInt8]? {
        guard case .item(let item)? = StructuredDictionary(text)?["sha-256"], let digest = item.value.bytes,
            digest.count == 32
        else { return nil }
        return digest
    }
}
