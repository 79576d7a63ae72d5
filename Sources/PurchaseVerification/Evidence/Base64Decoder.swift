/// Strict base64 (RFC 4648, 4): nothing but the alphabet, complete, with padding only at the end.
///
/// Foundation decodes the same texts, but takes over half of all the instructions that a small receipt costs beyond its
/// signature check (Benchmarks/README.md). This one takes 16 characters at a time; a test compares the two.
enum Base64Decoder {
    /// The decoded bytes, or `nil` where the text is not base64.
    static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        let count = text.count
        guard count > 0 else { return [] }
        guard count % 4 == 0 else { return nil }
        let padding = text[count - 1] != pad ? 0 : text[count - 2] != pad ? 1 : 2
        var bytes = [UInt8](repeating: 0, count: count / 4 * 3 - padding)
        guard let decoded = decodeBlocks(text, into: &bytes),
            decodeRest(text, from: decoded, padding: padding, into: &bytes)
        else { return nil }
        return bytes
    }

    private static let pad = UInt8(ascii: "=")

    private typealias Characters = SIMD16<UInt8>

    /// Decodes blocks of 16 characters, as long as more follow than padding can be in; returns how many characters that were.
    ///
    /// Every operand is a whole vector and every mask is turned into one: operations between vectors and numbers, and those
    /// on masks, are generic, and are done a lane at a time by calls.
    private static func decodeBlocks(_ text: Span<UInt8>, into bytes: inout [UInt8]) -> Int? {
        var span = bytes.mutableSpan
        var output = span.mutableBytes
        let input = text.bytes
        let count = text.count
        var invalid = vector(0)
        var position = 0
        var written = 0
        // The second store of a block reaches two bytes beyond it; 8 more characters are at least 4 more bytes.
        while position + 24 <= count {
            let block = input.unsafeLoadUnaligned(fromByteOffset: position, as: Characters.self)
            // What must be added to each character for its value; 0 stands for no character of the alphabet.
            let upper = mask((block &- vector(65)) .< vector(26)) & vector(191)
            let lower = mask((block &- vector(97)) .< vector(26)) & vector(185)
            let digit = mask((block &- vector(48)) .< vector(10)) & vector(4)
            let plus = mask(block .== vector(43)) & vector(19)
            let slash = mask(block .== vector(47)) & vector(16)
            let offsets = upper | lower | digit | plus | slash
            invalid = invalid | mask(offsets .== vector(0))
            let (first, second) = packed(block &+ offsets)
            output.storeBytes(of: first.bigEndian, toByteOffset: written, as: UInt64.self)
            output.storeBytes(of: second.bigEndian, toByteOffset: written + 6, as: UInt64.self)
            position += 16
            written += 12
        }
        let words = unsafeBitCast(invalid, to: SIMD2<UInt64>.self)
        return words[0] | words[1] == 0 ? position : nil
    }

    /// Sixteen values of six bits, as twice six bytes at the upper ends of two words. Two values are joined to 12 bits, two
    /// of those to 24, and two of those to 48.
    @inline(__always)
    private static func packed(_ values: Characters) -> (UInt64, UInt64) {
        let sixes = unsafeBitCast(values, to: SIMD8<UInt16>.self)
        let twelves = ((sixes & pair(0x3F)) &<< pair(6)) | (sixes &>> pair(8))
        let joined = unsafeBitCast(twelves, to: SIMD4<UInt32>.self)
        let twentyFours = ((joined & quad(0xFFF)) &<< quad(12)) | (joined &>> quad(16))
        let halves = unsafeBitCast(twentyFours, to: SIMD2<UInt64>.self)
        let (first, second) = (halves[0], halves[1])
        return ((first &<< 40) | ((first &>> 32) &<< 16), (second &<< 40) | ((second &>> 32) &<< 16))
    }

    @inline(__always)
    private static func vector(_ value: UInt8) -> Characters { Characters(repeating: value) }

    @inline(__always)
    private static func pair(_ value: UInt16) -> SIMD8<UInt16> { SIMD8(repeating: value) }

    @inline(__always)
    private static func quad(_ value: UInt32) -> SIMD4<UInt32> { SIMD4(repeating: value) }

    @inline(__always)
    private static func mask(_ mask: SIMDMask<SIMD16<Int8>>) -> Characters { unsafeBitCast(mask, to: Characters.self) }

    /// Decodes what is left, four characters at a time, the last ones with their padding.
    private static func decodeRest(
        _ text: Span<UInt8>, from start: Int, padding: Int, into bytes: inout [UInt8]
    ) -> Bool {
        var written = start / 4 * 3
        var position = start
        while position < text.count {
            let characters = position + 4 == text.count ? 4 - padding : 4
            var word: UInt32 = 0
            for offset in 0..<4 {
                word <<= 6
                guard offset < characters else { continue }
                guard let value = value(text[position + offset]) else { return false }
                word |= value
            }
            for byte in 0..<(characters - 1) {
                bytes[written] = UInt8(truncatingIfNeeded: word >> UInt32(16 - 8 * byte))
                written += 1
            }
            position += 4
        }
        return true
    }

    private static func value(_ character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character) + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}

/// The decoder, for the test that compares it with Foundation's.
package func decodeBase64(_ text: [UInt8]) -> [UInt8]? { Base64Decoder.decode(text.span) }
