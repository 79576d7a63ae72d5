import CBase64

/// Strict base64 (RFC 4648, 4): only the alphabet, complete, with padding only at the end.
///
/// Nearly all bytes of a receipt are decoded here, so whole blocks are decoded with the processor's vector look-ups if
/// it has them, and otherwise two characters at a time (docs/decisions.md, 57). Tests compare both with Foundation's
/// decoder.
package enum Base64Decoder {
    /// How whole blocks are decoded.
    package enum Way: Sendable {
        /// 32 characters at a time, by instructions that not every processor has.
        case vectors
        /// Two characters at a time, by a table.
        case table
    }

    /// Decodes text in an array.
    package static func decode(_ text: [UInt8], by way: Way = usualWay) -> [UInt8]? {
        let slice = text[...]
        return decode(slice.span, by: way)
    }

    /// The decoded bytes, or `nil` if the text is not base64.
    package static func decode(_ text: Span<UInt8>, by way: Way = usualWay) -> [UInt8]? {
        let count = text.count
        guard count > 0 else { return [] }
        guard count % 4 == 0 else { return nil }
        let padding = text[count - 1] != pad ? 0 : text[count - 2] != pad ? 1 : 2
        let size = count / 4 * 3 - padding
        var isValid = false
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, written in
            // The span checks each store. Bytes that are not written are never read, because the text is then not
            // base64.
            var output = buffer.extracting(..<size).mutableSpan
            guard let decoded = decodeBlocks(text, into: &output, by: way) else { return }
            isValid = decodeRest(text, from: decoded, padding: padding, into: &output)
            written = isValid ? size : 0
        }
        return isValid ? bytes : nil
    }

    package static let usualWay: Way = base64_blocks_works() ? .vectors : .table

    private static let pad = UInt8(ascii: "=")

    /// Decodes blocks of 16 characters, as long as more follow than padding can be in; returns how many characters that
    /// were.
    @inline(__always)
    private static func decodeBlocks(
        _ text: Span<UInt8>, into output: inout MutableSpan<UInt8>, by way: Way
    ) -> Int? {
        // Too short for a block in either way, so the tables are not needed.
        guard text.count >= 24 else { return 0 }
        switch way {
        case .vectors: return decodeVectors(text, into: &output)
        case .table: return decodeByTable(text, into: &output)
        }
    }

    private static func decodeVectors(_ text: Span<UInt8>, into output: inout MutableSpan<UInt8>) -> Int? {
        let decoded = text.withUnsafeBufferPointer { characters in
            output.withUnsafeMutableBufferPointer { bytes in
                base64_blocks(characters.baseAddress, characters.count, bytes.baseAddress, bytes.count)
            }
        }
        return decoded < 0 ? nil : decoded
    }

    private static func decodeByTable(_ text: Span<UInt8>, into output: inout MutableSpan<UInt8>) -> Int? {
        let input = text.bytes
        let count = text.count
        let pairs = pairs.span
        // Two bytes never exceed this, so look-ups need no separate bounds check.
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

    /// Eight characters, the first of them lowest, as six bytes. The result for each pair is added to `met`.
    @inline(__always)
    private static func decodeEight(_ text: UInt64, _ pairs: Span<UInt16>, _ met: inout UInt16) -> UInt64 {
        let first = pairs[Int(text & 0xFFFF)]
        let second = pairs[Int(text >> 16 & 0xFFFF)]
        let third = pairs[Int(text >> 32 & 0xFFFF)]
        let fourth = pairs[Int(text >> 48)]
        met |= (first | second) | (third | fourth)
        return UInt64(first) << 36 | UInt64(second) << 24 | UInt64(third) << 12 | UInt64(fourth)
    }

    /// The twelve bits of two characters, indexed by both characters as they are in memory. One text uses 16 kB of
    /// these 128 kB.
    private static let pairs: ContiguousArray<UInt16> = {
        var pairs = ContiguousArray<UInt16>(repeating: notInAlphabet, count: 1 << 16)
        for (first, firstValue) in values.enumerated() where firstValue < 64 {
            for (second, secondValue) in values.enumerated() where secondValue < 64 {
                pairs[second << 8 | first] = UInt16(firstValue) << 6 | UInt16(secondValue)
            }
        }
        return pairs
    }()

    /// Marks two characters, at least one of which is not in the alphabet.
    private static let notInAlphabet: UInt16 = 1 << 15

    /// Decodes the rest, four characters at a time, the last ones with their padding.
    private static func decodeRest(
        _ text: Span<UInt8>, from start: Int, padding: Int, into bytes: inout MutableSpan<UInt8>
    ) -> Bool {
        let values = values
        var written = start / 4 * 3
        var position = start
        while position < text.count {
            let characters = position + 4 == text.count ? 4 - padding : 4
            var word: UInt32 = 0
            for offset in 0..<4 {
                word <<= 6
                guard offset < characters else { continue }
                let value = values[Int(text[position + offset])]
                guard value < 64 else { return false }
                word |= UInt32(value)
            }
            for byte in 0..<(characters - 1) {
                bytes[written] = UInt8(truncatingIfNeeded: word >> UInt32(16 - 8 * byte))
                written += 1
            }
            position += 4
        }
        return true
    }

    /// The six bits of a character; 64 for one that is not in the alphabet.
    private static let values: ContiguousArray<UInt8> = {
        var values = ContiguousArray<UInt8>(repeating: 64, count: 256)
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        for (value, character) in alphabet.utf8.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()
}
