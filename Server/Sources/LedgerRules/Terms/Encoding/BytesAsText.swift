package import struct Foundation.UUID
package import typealias Foundation.uuid_t

extension UUID {
    /// The 16 bytes, in the order of RFC 9562.
    package var bytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }

    /// The text in lower case.
    package var text: String { uuidString.lowercased() }

    /// A UUID of 16 bytes; `nil` for any other number of bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

extension [UInt8] {
    /// The bytes of hexadecimal digits; empty for other text.
    package init(hexadecimal text: String) {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count % 2 == 0, digits.count == text.utf8.count else {
            self = []
            return
        }
        self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

extension Sequence<UInt8> {
    /// Lower-case hexadecimal digits.
    package var hexadecimal: String {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value }
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * underestimatedCount)
        for byte in self {
            digits.append(digit(byte >> 4))
            digits.append(digit(byte & 15))
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
