import PurchaseVerification

/// Reads only what `CanonicalWriter` writes: numbers in their shortest form, 0 or 1 before an optional value, and texts
/// in UTF-8.
package struct CanonicalReader {
    private let bytes: [UInt8]
    private var position: Int

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        position = 0
    }

    package var isAtEnd: Bool { position >= bytes.count }

    package mutating func byte() throws(FactsDecodingError) -> UInt8 {
        guard position < bytes.count else { throw .malformed(offset: position) }
        defer { position += 1 }
        return bytes[position]
    }

    package mutating func unsigned() throws(FactsDecodingError) -> UInt64 {
        var (number, shift): (UInt64, UInt64) = (0, 0)
        while true {
            let byte = try byte()
            let group = UInt64(byte & 0x7F)
            // The tenth group has room for one bit.
            guard shift < 63 || (shift == 63 && group <= 1) else { throw .malformed(offset: position) }
            number |= group << shift
            if byte & 0x80 == 0 {
                // A last group of zeros adds nothing.
                guard byte > 0 || shift == 0 else { throw malformed }
                return number
            }
            shift += 7
        }
    }

    package mutating func signed() throws(FactsDecodingError) -> Int64 {
        let folded = try unsigned()
        return Int64(bitPattern: folded >> 1) ^ -Int64(bitPattern: folded & 1)
    }

    /// A time in the years that evidence can state, so that calculations with it cannot overflow.
    package mutating func moment() throws(FactsDecodingError) -> Timestamp {
        let milliseconds = try signed()
        guard Timestamp.storable.contains(milliseconds) else { throw malformed }
        return Timestamp(millisecondsSince1970: milliseconds)
    }

    package mutating func counted() throws(FactsDecodingError) -> [UInt8] { Array(try part()) }

    package mutating func text() throws(FactsDecodingError) -> ExactText {
        let part = try part()
        // Nearly all texts are ASCII, for which the other initializer is slow.
        if part.allSatisfy({ $0 < 0x80 }) { return ExactText(String(decoding: part, as: UTF8.self)) }
        guard let text = String(validating: part, as: UTF8.self) else { throw malformed }
        return ExactText(text)
    }

    /// Bytes preceded by their number.
    private mutating func part() throws(FactsDecodingError) -> ArraySlice<UInt8> {
        let count = try unsigned()
        guard count <= UInt64(bytes.count - position) else { throw malformed }
        let start = position
        position += Int(count)
        return bytes[start..<position]
    }

    package mutating func value<Value: CanonicalValue>(_ type: Value.Type = Value.self) throws(FactsDecodingError)
        -> Value
    {
        try Value(from: &self)
    }

    package mutating func optional<Value: CanonicalValue>(_ type: Value.Type = Value.self) throws(FactsDecodingError)
        -> Value?
    {
        switch try byte() {
        case 0: nil
        case 1: try Value(from: &self)
        default: throw malformed
        }
    }

    /// The error for a value that is out of range here.
    package var malformed: FactsDecodingError { .malformed(offset: position) }
}
