/// Base64url without padding, as JWS has it (RFC 7515, 2). Strict: each value has one spelling.
enum Base64URL {
    /// The decoded bytes, or `nil` where the text is not base64url.
    static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        let count = text.count
        guard count > 0, count % 4 != 1 else { return nil }
        var characters = [UInt8](repeating: UInt8(ascii: "="), count: (count + 3) / 4 * 4)
        for offset in 0..<count {
            switch text[offset] {
            case UInt8(ascii: "-"): characters[offset] = UInt8(ascii: "+")
            case UInt8(ascii: "_"): characters[offset] = UInt8(ascii: "/")
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
            default: characters[offset] = text[offset]
            }
        }
        guard let bytes = Base64Decoder.decode(characters.span) else { return nil }
        return hasUnusedBits(text[count - 1], count % 4) ? nil : bytes
    }

    /// Whether the last character has bits that no byte takes up.
    private static func hasUnusedBits(_ last: UInt8, _ remainder: Int) -> Bool {
        let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        let mask = remainder == 2 ? 0xF : remainder == 3 ? 0x3 : 0
        guard mask != 0 else { return false }
        return alphabet.withUTF8Buffer { $0.firstIndex(of: last).map { $0 & mask != 0 } ?? true }
    }
}
