/// Validates UTF-8 in bytes (RFC 3629, 4): creating a `String` first would cost more, and some of its checks need newer
/// systems.
extension Span where Element == UInt8 {
    /// Whether all of the bytes are well-formed UTF-8.
    var isUTF8: Bool {
        var position = 0
        while position < count {
            guard let length = lengthOfCharacter(at: position) else { return false }
            position += length
        }
        return true
    }

    /// The length of the UTF-8 character at the offset; `nil` if it is malformed.
    func lengthOfCharacter(at position: Int) -> Int? {
        guard position < count else { return nil }
        let length: Int
        let second: ClosedRange<UInt8>
        switch self[position] {
        case 0...0x7F: return 1
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        // D800 to DFFF are halves of UTF-16 pairs, not characters.
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: return nil
        }
        guard position + length <= count, second.contains(self[position + 1]) else { return nil }
        var offset = 2
        while offset < length {
            guard self[position + offset] & 0xC0 == 0x80 else { return nil }
            offset += 1
        }
        return length
    }
}
