import PurchaseVerification

package import struct Foundation.UUID
package import typealias Foundation.uuid_t

/// A value with only one encoding, in which facts are stored and by which the merge breaks ties.
package protocol CanonicalValue: Sendable, Hashable {
    func encode(to writer: inout CanonicalWriter)
    init(from reader: inout CanonicalReader) throws(FactsDecodingError)
}

extension CanonicalValue {
    /// The bytes that decide ties.
    var canonicalBytes: [UInt8] {
        var writer = CanonicalWriter()
        encode(to: &writer)
        return writer.bytes
    }
}

extension ExactText: CanonicalValue {
    package init(from reader: inout CanonicalReader) throws(FactsDecodingError) { self = try reader.text() }

    package func encode(to writer: inout CanonicalWriter) { writer.write(counted: string.utf8) }
}

extension Timestamp: CanonicalValue {
    package init(from reader: inout CanonicalReader) throws(FactsDecodingError) { self = try reader.moment() }
    package func encode(to writer: inout CanonicalWriter) { writer.write(self) }
}

extension Int64: CanonicalValue {
    package init(from reader: inout CanonicalReader) throws(FactsDecodingError) { self = try reader.signed() }
    package func encode(to writer: inout CanonicalWriter) { writer.write(signed: self) }
}

extension UInt64: CanonicalValue {
    package init(from reader: inout CanonicalReader) throws(FactsDecodingError) { self = try reader.unsigned() }
    package func encode(to writer: inout CanonicalWriter) { writer.write(self) }
}

extension ProductKind: CanonicalValue {
    package init(from reader: inout CanonicalReader) throws(FactsDecodingError) {
        switch try reader.byte() {
        case 1: self = .consumable
        case 2: self = .nonConsumable
        case 3: self = .autoRenewable
        case 4: self = .nonRenewing
        default: throw reader.malformed
        }
    }

    package func encode(to writer: inout CanonicalWriter) {
        switch self {
        case .consumable: writer.write(byte: 1)
        case .nonConsumable: writer.write(byte: 2)
        case .autoRenewable: writer.write(byte: 3)
        case .nonRenewing: writer.write(byte: 4)
        }
    }
}

extension AppAccountToken: CanonicalValue {
    package init(from reader: inout CanonicalReader) throws(FactsDecodingError) {
        var (high, low): (UInt64, UInt64) = (0, 0)
        for _ in 0..<8 { high = high << 8 | UInt64(try reader.byte()) }
        for _ in 0..<8 { low = low << 8 | UInt64(try reader.byte()) }
        self.init(high: high, low: low)
    }

    package func encode(to writer: inout CanonicalWriter) {
        for word in [high, low] {
            for shift in stride(from: 56, through: 0, by: -8) {
                writer.write(byte: UInt8(truncatingIfNeeded: word >> UInt64(shift)))
            }
        }
    }
}

extension Revocation: CanonicalValue {
    package init(from reader: inout CanonicalReader) throws(FactsDecodingError) {
        date = try reader.moment()
        reason = try reader.optional()
        type = try reader.optional()
        percentage = try reader.optional()
    }

    package func encode(to writer: inout CanonicalWriter) {
        writer.write(date)
        writer.write(optional: reason)
        writer.write(optional: type)
        writer.write(optional: percentage)
    }
}

extension PurchaseOffer: CanonicalValue {
    package init(from reader: inout CanonicalReader) throws(FactsDecodingError) {
        let offer = PurchaseOffer(
            type: try reader.optional(), identifier: try reader.optional(), discountType: try reader.optional(),
            period: try reader.optional())
        guard let offer else { throw reader.malformed }
        self = offer
    }

    package func encode(to writer: inout CanonicalWriter) {
        writer.write(optional: type)
        writer.write(optional: identifier)
        writer.write(optional: discountType)
        writer.write(optional: period)
    }
}

extension PurchasePrice: CanonicalValue {
    package init(from reader: inout CanonicalReader) throws(FactsDecodingError) {
        let price = PurchasePrice(milliunits: try reader.optional(), currency: try reader.optional())
        guard let price else { throw reader.malformed }
        self = price
    }

    package func encode(to writer: inout CanonicalWriter) {
        writer.write(optional: milliunits)
        writer.write(optional: currency)
    }
}

extension Storefront: CanonicalValue {
    package init(from reader: inout CanonicalReader) throws(FactsDecodingError) {
        let storefront = Storefront(country: try reader.optional(), number: try reader.optional())
        guard let storefront else { throw reader.malformed }
        self = storefront
    }

    package func encode(to writer: inout CanonicalWriter) {
        writer.write(optional: country)
        writer.write(optional: number)
    }
}

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

/// Bytes that are already canonical.
struct CanonicalBytes: CanonicalValue {
    let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }
    init(from reader: inout CanonicalReader) throws(FactsDecodingError) { bytes = try reader.counted() }
    func encode(to writer: inout CanonicalWriter) { writer.write(counted: bytes) }
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

/// The reasons why stored facts could not be read.
public enum FactsDecodingError: Error, Sendable, Equatable {
    /// The bytes have a version that this release does not know. A newer release wrote them.
    case unknownVersion(UInt8)
    /// The bytes differ from those that this version writes. The row was changed or is damaged: restore it with
    /// `assay database rebuild`.
    case malformed(offset: Int)
}
