extension Span where Element == UInt8 {
    /// Whether the bytes between the offsets are exactly these.
    @inline(__always)
    func holds(_ expected: [UInt8], at range: Range<Int>) -> Bool {
        guard range.count == expected.count, range.lowerBound >= 0, range.upperBound <= count else { return false }
        var offset = range.lowerBound
        for byte in expected {
            guard self[offset] == byte else { return false }
            offset += 1
        }
        return true
    }

    /// The bytes between the offsets, up to the limit of a message, and one more if there are more.
    func shown(_ range: Range<Int>) -> [UInt8] { copy(range.prefix(VerificationBudget.shownBytes + 1)) }

    /// A copy of the bytes between the offsets, which must be in the span.
    func copy(_ range: Range<Int>) -> [UInt8] {
        extracting(range).withUnsafeBufferPointer { [UInt8]($0) }
    }
}

extension Span where Element == UInt8 {
    /// Whether two stretches of the bytes are the same; 64 bytes at a time, since whole certificates are compared.
    func isEqual(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
        guard left.count == right.count, left.lowerBound >= 0, right.lowerBound >= 0,
            left.upperBound <= count, right.upperBound <= count
        else { return false }
        return bytes.isEqual(left.lowerBound, bytes, right.lowerBound, count: left.count)
    }

    /// Whether a stretch of the bytes is exactly those of the array.
    func isEqual(_ range: Range<Int>, _ other: [UInt8]) -> Bool {
        let slice = other[...]
        return isEqual(range, slice.span)
    }

    /// Whether a stretch of the bytes is exactly these others.
    func isEqual(_ range: Range<Int>, _ other: Span<UInt8>) -> Bool {
        guard range.count == other.count, range.lowerBound >= 0, range.upperBound <= count else { return false }
        return bytes.isEqual(range.lowerBound, other.bytes, 0, count: range.count)
    }
}

extension RawSpan {
    /// The callers have checked that both ranges are in their spans.
    fileprivate func isEqual(_ start: Int, _ other: RawSpan, _ otherStart: Int, count: Int) -> Bool {
        var offset = 0
        while offset &+ 64 <= count {
            let left = unsafeLoadUnaligned(fromByteOffset: start &+ offset, as: SIMD8<UInt64>.self)
            let right = other.unsafeLoadUnaligned(fromByteOffset: otherStart &+ offset, as: SIMD8<UInt64>.self)
            let difference = left ^ right
            let half = difference.lowHalf | difference.highHalf
            let quarter = half.lowHalf | half.highHalf
            guard quarter[0] | quarter[1] == 0 else { return false }
            offset &+= 64
        }
        while offset &+ 8 <= count {
            guard
                unsafeLoadUnaligned(fromByteOffset: start &+ offset, as: UInt64.self)
                    == other.unsafeLoadUnaligned(fromByteOffset: otherStart &+ offset, as: UInt64.self)
            else { return false }
            offset &+= 8
        }
        // The last eight bytes at once, some of them for the second time.
        if count >= 8 {
            let last = count &- 8
            return unsafeLoadUnaligned(fromByteOffset: start &+ last, as: UInt64.self)
                == other.unsafeLoadUnaligned(fromByteOffset: otherStart &+ last, as: UInt64.self)
        }
        while offset < count {
            guard
                unsafeLoadUnaligned(fromByteOffset: start &+ offset, as: UInt8.self)
                    == other.unsafeLoadUnaligned(fromByteOffset: otherStart &+ offset, as: UInt8.self)
            else { return false }
            offset &+= 1
        }
        return true
    }
}

/// Bytes as lower-case hexadecimal digits, limited to the first 64: a message must not grow with hostile input.
func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    var text = ""
    for (index, byte) in bytes.enumerated() {
        guard index < VerificationBudget.shownBytes else { return text + "…" }
        text += hexByte(byte)
    }
    return text
}

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
