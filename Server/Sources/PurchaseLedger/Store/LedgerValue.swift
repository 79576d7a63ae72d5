import PurchaseVerification

package import struct Foundation.UUID
package import typealias Foundation.uuid_t

/// A value of a column or a parameter.
public enum LedgerValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    /// Text, or null.
    static func text(_ text: String?) -> LedgerValue { text.map(LedgerValue.text) ?? .null }
    /// A number, or null.
    static func integer(_ number: Int64?) -> LedgerValue { number.map(LedgerValue.integer) ?? .null }
    /// Bytes, or null.
    static func blob(_ bytes: [UInt8]?) -> LedgerValue { bytes.map(LedgerValue.blob) ?? .null }
    /// Milliseconds since 1970, or null.
    static func time(_ time: Timestamp?) -> LedgerValue { .integer(time?.millisecondsSince1970) }
    /// 1 or 0.
    static func flag(_ flag: Bool) -> LedgerValue { .integer(flag ? 1 : 0) }
    /// The 16 bytes of a UUID, or null.
    static func id(_ id: UUID?) -> LedgerValue { .blob(id?.bytes) }

    /// The parameters of a list of values in a statement without others: `?1, ?2, ?3`.
    static func places(_ count: Int) -> String { (0..<count).map { "?\($0 + 1)" }.joined(separator: ", ") }
}

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
    init(hexadecimal text: String) {
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
