/// Searches in text, 64 and 16 characters at a time: evidence is mostly long strings without matches.
extension Span where Element == UInt8 {
    private typealias Block = SIMD16<UInt8>

    /// The offset of the first such byte at or after the start; `nil` if there is none.
    func offset(of byte: UInt8, from start: Int) -> Int? {
        var position = start
        while position + 64 <= count {
            let (first, second) = (Self.equal(block(position), byte), Self.equal(block(position + 16), byte))
            let (third, fourth) = (Self.equal(block(position + 32), byte), Self.equal(block(position + 48), byte))
            if Self.isAnySet((first | second) | (third | fourth)) { break }
            position += 64
        }
        while position + 16 <= count {
            if let offset = Self.firstSet(Self.equal(block(position), byte)) { return position + offset }
            position += 16
        }
        while position < count {
            if self[position] == byte { return position }
            position += 1
        }
        return nil
    }

    /// The offset of the first byte at or behind the start that needs a look in a quoted string: a quote, a backslash,
    /// or a byte that is not printable ASCII; the end if there is none.
    @inline(__always)
    func endOfPlainText(from start: Int) -> Int {
        // Most strings end within their first block; the others are long.
        guard start + 16 <= count else { return endOfLongPlainText(from: start) }
        if let offset = Self.firstSet(Self.specials(block(start))) { return start + offset }
        return endOfLongPlainText(from: start + 16)
    }

    @inline(never)
    private func endOfLongPlainText(from start: Int) -> Int {
        var position = start
        while position + 64 <= count {
            let (first, second) = (Self.specials(block(position)), Self.specials(block(position + 16)))
            let (third, fourth) = (Self.specials(block(position + 32)), Self.specials(block(position + 48)))
            if Self.isAnySet((first | second) | (third | fourth)) { break }
            position += 64
        }
        while position + 16 <= count {
            if let offset = Self.firstSet(Self.specials(block(position))) { return position + offset }
            position += 16
        }
        while position < count {
            let byte = self[position]
            if byte < 0x20 || byte >= 0x7F || byte == 0x22 || byte == 0x5C { break }
            position += 1
        }
        return position
    }

    @inline(__always)
    private func block(_ position: Int) -> Block {
        bytes.unsafeLoadUnaligned(fromByteOffset: position, as: Block.self)
    }

    @inline(__always)
    private static func equal(_ block: Block, _ byte: UInt8) -> Block { mask(block .== Block(repeating: byte)) }

    /// 255 for each byte that needs a look in a quoted string. Signed, bytes from 0x80 on are below zero.
    @inline(__always)
    private static func specials(_ block: Block) -> Block {
        let signed = unsafeBitCast(block, to: SIMD16<Int8>.self)
        let controls = mask(signed .< SIMD16<Int8>(repeating: 0x20)) | equal(block, 0x7F)
        return controls | equal(block, 0x22) | equal(block, 0x5C)
    }

    // As vectors of 0 and 255, because the operations of a mask are not inlined but call a function for each lane.
    @inline(__always)
    private static func mask(_ mask: SIMDMask<SIMD16<Int8>>) -> Block { unsafeBitCast(mask, to: Block.self) }

    @inline(__always)
    private static func isAnySet(_ block: Block) -> Bool {
        let words = unsafeBitCast(block, to: SIMD2<UInt64>.self)
        return words[0] | words[1] != 0
    }

    /// The first lane that is not 0.
    @inline(__always)
    private static func firstSet(_ block: Block) -> Int? {
        let words = unsafeBitCast(block, to: SIMD2<UInt64>.self)
        let (low, high) = (UInt64(littleEndian: words[0]), UInt64(littleEndian: words[1]))
        if low != 0 { return low.trailingZeroBitCount / 8 }
        return high != 0 ? 8 + high.trailingZeroBitCount / 8 : nil
    }
}
