import TextFormats

/// Base64url without padding, as in JWS (RFC 7515, 2). Strict: each value has one encoding.
enum Base64URL {
    private typealias Characters = SIMD16<UInt8>

    /// The decoded bytes, or `nil` if the text is not base64url.
    static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        let count = text.count
        guard count > 0, count % 4 != 1, !hasUnusedBits(text[count - 1], count % 4) else { return nil }
        let characters = plain(text)
        guard !characters.isEmpty else { return nil }
        return Base64Decoder.decode(characters)
    }

    /// The same in the standard alphabet with padding; empty if the text has characters that only the standard alphabet
    /// has.
    private static func plain(_ text: Span<UInt8>) -> [UInt8] {
        let size = (text.count + 3) / 4 * 4
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, written in
            var output = buffer.extracting(..<size).mutableSpan
            written = translate(text, into: &output) ? size : 0
        }
    }

    /// Writes the text in the standard alphabet with padding; `false` if it has characters that only that alphabet has.
    private static func translate(_ text: Span<UInt8>, into output: inout MutableSpan<UInt8>) -> Bool {
        let count = text.count
        let input = text.bytes
        var foreign = vector(0)
        var position = 0
        while position + 16 <= count {
            let block = input.unsafeLoadUnaligned(fromByteOffset: position, as: Characters.self)
            let minus = mask(block .== vector(0x2D)) & vector(0x2D ^ 0x2B)
            let underscore = mask(block .== vector(0x5F)) & vector(0x5F ^ 0x2F)
            foreign =
                foreign | mask(block .== vector(0x2B)) | mask(block .== vector(0x2F)) | mask(block .== vector(0x3D))
            var bytes = output.mutableBytes
            bytes.storeBytes(of: block ^ minus ^ underscore, toByteOffset: position, as: Characters.self)
            position += 16
        }
        let words = unsafeBitCast(foreign, to: SIMD2<UInt64>.self)
        guard words[0] | words[1] == 0 else { return false }
        while position < count {
            switch text[position] {
            case UInt8(ascii: "-"): output[position] = UInt8(ascii: "+")
            case UInt8(ascii: "_"): output[position] = UInt8(ascii: "/")
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return false
            default: output[position] = text[position]
            }
            position += 1
        }
        while position < output.count {
            output[position] = UInt8(ascii: "=")
            position += 1
        }
        return true
    }

    // Whole vectors only; `Base64Decoder` states the reason.
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
