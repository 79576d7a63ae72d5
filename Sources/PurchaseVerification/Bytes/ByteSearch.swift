/// Searches in text, 16 characters at a time: evidence is mostly long strings in which nothing is to be found.
extension Span where Element == UInt8 {
    private typealias Block = SIMD16<UInt8>

    /// The offset of the first such byte at or behind the start; `nil` where there is none.
    func offset(of byte: UInt8, from start: Int) -> Int? {
        var position = start
        while position + 16 <= count {
            let block = bytes.unsafeLoadUnaligned(fromByteOffset: position, as: Block.self)
            if let offset = Self.firstSet(Self.mask(block .== Self.block(byte))) { return position + offset }
            position += 16
        }
        while position < count {
            if self[position] == byte { return position }
            position += 1
        }
        return nil
    }

    /// The offset of the first byte at or behind the start that needs a look in a quoted string: a quote, a backslash, or
    /// what is no printable ASCII; the end where there is none.
    func endOfPlainText(from start: Int) -> Int {
        var position = start
        while position + 16 <= count {
            let block = bytes.unsafeLoadUnaligned(fromByteOffset: position, as: Block.self)
            let controls = Self.mask(block .< Self.block(0x20)) | Self.mask(block .>= Self.block(0x7F))
            let quotes = Self.mask(block .== Self.block(0x22)) | Self.mask(block .== Self.block(0x5C))
            if let offset = Self.firstSet(controls | quotes) { return position + offset }
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
    private static func block(_ byte: UInt8) -> Block { Block(repeating: byte) }

    // As vectors of 0 and 255: what a mask itself offers is no inlined code, but a call for each lane.
    @inline(__always)
    private static func mask(_ mask: SIMDMask<SIMD16<Int8>>) -> Block { unsafeBitCast(mask, to: Block.self) }

    /// The first lane that is not 0.
    @inline(__always)
    private static func firstSet(_ block: Block) -> Int? {
        let words = unsafeBitCast(block, to: SIMD2<UInt64>.self)
        let (low, high) = (UInt64(littleEndian: words[0]), UInt64(littleEndian: words[1]))
        if low != 0 { return low.trailingZeroBitCount / 8 }
        return high != 0 ? 8 + high.trailingZeroBitCount / 8 : nil
    }
}
