import PurchaseVerification

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
