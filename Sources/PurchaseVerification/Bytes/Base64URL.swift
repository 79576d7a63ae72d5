/// Base64url without padding, as JWS has it (RFC 7515, 2). Strict: each value has one spelling.
enum Base64URL {
    private typealias Characters = SIMD16<UInt8>

    /// The decoded bytes, or `nil` where the text is not base64url.
    static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        let count = text.count
        guard count > 0, count % 4 != 1, !hasUnusedBits(text[count - 1], count % 4) else { return nil }
        guard let characters = plain(text) else { return nil }
        return Base64Decoder.decode(characters.span)
    }

    /// The same in the usual alphabet and with its padding; `nil` where the text holds what only that one has.
    private static func plain(_ text: Span<UInt8>) -> [UInt8]? {
        let count = text.count
        var characters = [UInt8](repeating: UInt8(ascii: "="), count: (count + 3) / 4 * 4)
        var span = characters.mutableSpan
        var output = span.mutableBytes
        let input = text.bytes
        var foreign = vector(0)
        var position = 0
        while position + 16 <= count {
            let block = input.unsafeLoadUnaligned(fromByteOffset: position, as: Characters.self)
            let minus = mask(block .== vector(0x2D)) & vector(0x2D ^ 0x2B)
            let underscore = mask(block .== vector(0x5F)) & vector(0x5F ^ 0x2F)
            foreign =
                foreign | mask(block .== vector(0x2B)) | mask(block .== vector(0x2F)) | mask(block .== vector(0x3D))
            output.storeBytes(of: block ^ minus ^ underscore, toByteOffset: position, as: Characters.self)
            position += 16
        }
        let words = unsafeBitCast(foreign, to: SIMD2<UInt64>.self)
        guard words[0] | words[1] == 0 else { return nil }
        while position < count {
            switch text[position] {
            case UInt8(ascii: "-"): span[position] = UInt8(ascii: "+")
            case UInt8(ascii: "_"): span[position] = UInt8(ascii: "/")
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
            default: span[position] = text[position]
            }
            position += 1
        }
        return characters
    }

    // Whole vectors only, for the reason that `Base64Decoder` names.
    @inline(__always)
    private static func vector(_ value: UInt8) -> Characters { Characters(repeating: value) }

    @inline(__always)
    private static func mask(_ mask: SIMDMask<SIMD16<Int8>>) -> Characters { unsafeBitCast(mask, to: Characters.self) }

    /// Whether the last character has bits that no byte takes up.
    private static func hasUnusedBits(_ last: UInt8, _ remainder: Int) -> Bool {
        let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        let mask = remainder == 2 ? 0xF : remainder == 3 ? 0x3 : 0
        guard mask != 0 else { return false }
        return alphabet.withUTF8Buffer { $0.firstIndex(of: last).map { $0 & mask != 0 } ?? true }
    }
}
