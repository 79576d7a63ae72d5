import PurchaseVerification

/// The stored form of renewal facts. Version 1: version, stamp, renewal info, number of grace periods, grace periods. The key
/// is the key of the row.
extension ObservedRenewal {
    /// The version of new facts.
    public static let encodingVersion: UInt8 = 1

    /// The facts in their stored form. Equal facts have equal bytes.
    public var encoded: [UInt8] {
        var writer = CanonicalWriter()
        writer.write(byte: Self.encodingVersion)
        writer.write(stamp)
        writer.write(info)
        writer.write(UInt64(gracePeriods.count))
        for period in gracePeriods {
            writer.write(period.end)
            writer.write(period.firstStamp)
            writer.write(period.lastStamp)
        }
        return writer.bytes
    }

    /// Reads stored facts.
    ///
    /// - Throws: `unknownVersion`, or `malformed` for anything except the exact bytes that `encoded` gives.
    public convenience init(key: RenewalKey, encoded: [UInt8]) throws(FactsDecodingError) {
        var reader = CanonicalReader(encoded)
        let version = try reader.byte()
        guard version == Self.encodingVersion else { throw .unknownVersion(version) }
        let stamp = try reader.moment()
        let info: RenewalInfo = try reader.value()
        var gracePeriods: [GracePeriod] = []
        for _ in 0..<(try reader.unsigned()) {
            let period = GracePeriod(
                end: try reader.moment(), firstStamp: try reader.moment(), lastStamp: try reader.moment())
            // The list is ordered by end, and each end occurs once.
            guard gracePeriods.last.map({ $0.end < period.end }) ?? true else { throw reader.malformed }
            gracePeriods.append(period)
        }
        guard reader.isAtEnd else { throw reader.malformed }
        self.init(key: key, stamp: stamp, info: info, gracePeriods: gracePeriods)
        guard self.encoded == encoded else { throw .malformed(offset: encoded.count) }
    }
}

extension RenewalInfo: CanonicalValue {
    init(from reader: inout CanonicalReader) throws(FactsDecodingError) {
        productID = try reader.optional()
        nextProductID = try reader.optional()
        autoRenewStatus = try reader.optional()
        expirationIntent = try reader.optional()
        isInBillingRetry = try reader.optional(UInt64.self).map { $0 != 0 }
        priceIncreaseStatus = try reader.optional()
        graceEnd = try reader.optional()
        renewalDate = try reader.optional()
        renewalPrice = try reader.optional()
        recentStart = try reader.optional()
        offer = try reader.optional()
        accountToken = try reader.optional()
        appTransactionID = try reader.optional()
        otherClaims = try reader.optional(CanonicalBytes.self)?.bytes
    }

    func encode(to writer: inout CanonicalWriter) {
        writer.write(optional: productID)
        writer.write(optional: nextProductID)
        writer.write(optional: autoRenewStatus)
        writer.write(optional: expirationIntent)
        writer.write(optional: isInBillingRetry.map { $0 ? 1 as UInt64 : 0 })
        writer.write(optional: priceIncreaseStatus)
        writer.write(optional: graceEnd)
        writer.write(optional: renewalDate)
        writer.write(optional: renewalPrice)
        writer.write(optional: recentStart)
        writer.write(optional: offer)
        writer.write(optional: accountToken)
        writer.write(optional: appTransactionID)
        writer.write(optional: otherClaims.map(CanonicalBytes.init(bytes:)))
    }
}
