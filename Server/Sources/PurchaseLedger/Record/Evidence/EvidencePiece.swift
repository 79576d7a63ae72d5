/// A part of evidence, split for storage. Evidence is a list of pieces.
indirect enum EvidencePiece {
    /// Bytes that are compressed.
    case literal(ArraySlice<UInt8>)
    /// Random bytes, such as a signature: compressing them gains nothing and worsens the compression of the others.
    case opaque(ArraySlice<UInt8>)
    /// Bytes that many pieces of evidence share: the certificates of a signer. They are stored once.
    case shared(ArraySlice<UInt8>)
    /// Pieces whose bytes are written as base64.
    case base64(Base64Form, [EvidencePiece])
}

extension [UInt8] {
    /// Appends a number in groups of seven bits, the lowest first (LEB128).
    mutating func append(number: Int) {
        var rest = UInt64(clamping: number)
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }
}

extension ArraySlice<UInt8> {
    /// Takes a number of at most 56 bits from the front.
    mutating func popNumber() -> Int? {
        var (number, shift) = (0, 0)
        while let byte = popFirst() {
            guard shift < 56 else { return nil }
            number |= Int(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return number }
            shift += 7
        }
        return nil
    }
}
