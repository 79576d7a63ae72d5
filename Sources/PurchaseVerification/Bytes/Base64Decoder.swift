/// Strict base64 (RFC 4648, 4): nothing but the alphabet, complete, with padding only at the end.
///
/// Foundation decodes the same texts, but takes over half of all the instructions that a small receipt costs beyond its
/// signature check (Benchmarks/README.md). This one looks up two characters at a time; a test compares the two.
enum Base64Decoder {
    /// The same for text in an array.
    static func decode(_ text: [UInt8]) -> [UInt8]? {
        let slice = text[...]
        return decode(slice.span)
    }

    /// The decoded bytes, or `nil` where the text is not base64.
    static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        let count = text.count
        guard count > 0 else { return [] }
        guard count % 4 == 0 else { return nil }
        let padding = text[count - 1] != pad ? 0 : text[count - 2] != pad ? 1 : 2
        let size = count / 4 * 3 - padding
        var isValid = false
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, written in
            // The span checks each store. What is not written is never seen: then the text is no base64.
            var output = buffer.extracting(..<size).mutableSpan
            guard let decoded = decodeBlocks(text, into: &output) else { return }
            isValid = decodeRest(text, from: decoded, padding: padding, into: &output)
            written = isValid ? size : 0
        }
        return isValid ? bytes : nil
    }

    private static let pad = UInt8(ascii: "=")

    /// Decodes blocks of 16 characters, as long as more follow than padding can be in; returns how many characters that were.
    private static func decodeBlocks(_ text: Span<UInt8>, into output: inout MutableSpan<UInt8>) -> Int? {
        let input = text.bytes
        let count = text.count
        let pairs = pairs.span
        // Two bytes are never beyond this, so that no look-up is checked by itself.
        guard pairs.count == 1 << 16 else { return nil }
        var bytes = output.mutableBytes
        var met: UInt16 = 0
        var position = 0
        var written = 0
        // The store of a block reaches four bytes beyond it; 8 more characters are at least 4 more bytes.
        while position &+ 24 <= count {
            let block = input.unsafeLoadUnaligned(fromByteOffset: position, as: SIMD2<UInt64>.self)
            let first = decodeEight(UInt64(littleEndian: block[0]), pairs, &met)
            let second = decodeEight(UInt64(littleEndian: block[1]), pairs, &met)
            let decoded = SIMD2((first << 16 | second >> 32).bigEndian, (second << 32).bigEndian)
            bytes.storeBytes(of: decoded, toByteOffset: written, as: SIMD2<UInt64>.self)
            position &+= 16
            written &+= 12
        }
        return met & notInAlphabet == 0 ? position : nil
    }

    /// Eight characters, the first of them lowest, as six bytes. What was found for each pair is added to `met`.
    @inline(__always)
    private static func decodeEight(_ text: UInt64, _ pairs: Span<UInt16>, _ met: inout UInt16) -> UInt64 {
        let first = pairs[Int(text & 0xFFFF)]
        let second = pairs[Int(text >> 16 & 0xFFFF)]
        let third = pairs[Int(text >> 32 & 0xFFFF)]
        let fourth = pairs[Int(text >> 48)]
        met |= (first | second) | (third | fourth)
        return UInt64(first) << 36 | UInt64(second) << 24 | UInt64(third) << 12 | UInt64(fourth)
    }

    /// The twelve bits of two characters, by both of them as they lie in memory. Of these 128 kB one text uses 16.
    private static let pairs: ContiguousArray<UInt16> = {
        var pairs = ContiguousArray<UInt16>(repeating: notInAlphabet, count: 1 << 16)
        let values = (UInt8.min...UInt8.max).compactMap { character in
            value(character).map { (Int(character), UInt16($0)) }
        }
        for (first, firstValue) in values {
            for (second, secondValue) in values { pairs[second << 8 | first] = firstValue << 6 | secondValue }
        }
        return pairs
    }()

    /// Stands for two characters of which one is not in the alphabet.
    private static let notInAlphabet: UInt16 = 1 << 15

    /// Decodes what is left, four characters at a time, the last ones with their padding.
    private static func decodeRest(
        _ text: Span<UInt8>, from start: Int, padding: Int, into bytes: inout MutableSpan<UInt8>
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
package func decodeBase64(_ text: [UInt8]) -> [UInt8]? { Base64Decoder.decode(text) }
