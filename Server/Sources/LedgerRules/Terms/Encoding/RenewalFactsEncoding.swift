import PurchaseVerification

/// The stored form of renewal info. Version 2: version, stamp, renewal info. The subscription and the transaction
/// signed beside it are the key of the row. Version 1 had a list of grace periods after the renewal info, which the
/// rules do not use any more. A grace period whose end is not known has the latest time as its end.
extension RenewalStatement {
    /// The version of new facts.
    public static let encodingVersion: UInt8 = 2

    /// The renewal info in its stored form. Equal statements have equal bytes.
    public var encoded: [UInt8] {
        var writer = CanonicalWriter()
        writer.write(byte: Self.encodingVersion)
        writer.write(stamp)
        writer.write(info)
        return writer.bytes
    }

    /// Reads stored renewal info.
    ///
    /// - Throws: `unknownVersion`, or `malformed` for anything except the exact bytes that `encoded` gave.
    public init(key: RenewalKey, beside: ExactText?, encoded: [UInt8]) throws(FactsDecodingError) {
        var reader = CanonicalReader(encoded)
        let version = try reader.byte()
        guard version == 1 || version == Self.encodingVersion else { throw .unknownVersion(version) }
        self.init(key: key, stamp: try reader.moment(), info: try reader.value(), beside: beside)
        if version == 1 {
            for _ in 0..<(try reader.unsigned()) {
                for _ in 0..<3 { _ = try reader.moment() }
            }
        }
        guard reader.isAtEnd else { throw reader.malformed }
        guard version == 1 || self.encoded == encoded else { throw .malformed(offset: encoded.count) }
    }
}

extension RenewalInfo: CanonicalValue {
    package init(from reader: inout CanonicalReader) throws(FactsDecodingError) {
        productID = try reader.optional()
        nextProductID = try reader.optional()
        autoRenewStatus = try reader.optional()
        expirationIntent = try reader.optional()
        isInBillingRetry = try reader.optional(UInt64.self).map { $0 != 0 }
        priceIncreaseStatus = try reader.optional()
        graceEnd = try reader.optional()
        if graceEnd == .latestStorable { (graceEnd, isGraceEndUnknown) = (nil, true) }
        renewalDate = try reader.optional()
        renewalPrice = try reader.optional()
        recentStart = try reader.optional()
        offer = try reader.optional()
        accountToken = try reader.optional()
        appTransactionID = try reader.optional()
        otherClaims = try reader.optional(CanonicalBytes.self)?.bytes
    }

    package func encode(to writer: inout CanonicalWriter) {
        writer.write(optional: productID)
        writer.write(optional: nextProductID)
        writer.write(optional: autoRenewStatus)
        writer.write(optional: expirationIntent)
        writer.write(optional: isInBillingRetry.map { $0 ? 1 as UInt64 : 0 })
        writer.write(optional: priceIncreaseStatus)
        writer.write(optional: isGraceEndUnknown ? .latestStorable : graceEnd)
        writer.write(optional: renewalDate)
        writer.write(optional: renewalPrice)
        writer.write(optional: recentStart)
        writer.write(optional: offer)
        writer.write(optional: accountToken)
        writer.write(optional: appTransactionID)
        writer.write(optional: otherClaims.map(CanonicalBytes.init(bytes:)))
    }
}
