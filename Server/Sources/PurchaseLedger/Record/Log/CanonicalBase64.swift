import Foundation

/// Base64 of RFC 4648, section 4, in canonical form: signed or proven bytes must have only one encoding.
enum CanonicalBase64 {
    static func encoded(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// The bytes; `nil` for text that is not their canonical encoding.
    static func decoded(_ text: some Collection<UInt8>) -> [UInt8]? {
        let data = Data(text)
        guard let decoded = Data(base64Encoded: data), decoded.base64EncodedData() == data else { return nil }
        return [UInt8](decoded)
    }
}
