import PurchaseVerification

/// Writes facts in canonical form: equal facts have equal bytes.
package struct CanonicalWriter {
    package private(set) var bytes: [UInt8] = []

    /// - Parameter capacity: the number of bytes to reserve.
    package init(capacity: Int = 64) { bytes.reserveCapacity(capacity) }

    package mutating func write(byte: UInt8) { bytes.append(byte) }

    package mutating func write(bytes content: [UInt8]) { bytes += content }

    /// An unsigned number in groups of seven bits, the lowest first (LEB128).
    package mutating func write(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// A signed number in zigzag form, so that small numbers of either sign are short.
    package mutating func write(signed number: Int64) { write(UInt64(bitPattern: (number << 1) ^ (number >> 63))) }

    package mutating func write(_ moment: Timestamp) { write(signed: moment.millisecondsSince1970) }

    /// Bytes preceded by their number.
    package mutating func write(counted content: some Collection<UInt8>) {
        write(UInt64(content.count))
        bytes += content
    }

    package mutating func write(_ value: some CanonicalValue) { value.encode(to: &self) }

    /// A value preceded by a byte that shows whether it is present.
    package mutating func write(optional value: (some CanonicalValue)?) {
        write(byte: value == nil ? 0 : 1)
        if let value { write(value) }
    }
}
