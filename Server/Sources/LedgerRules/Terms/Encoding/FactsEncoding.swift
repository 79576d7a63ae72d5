import PurchaseVerification

/// The stored form of transaction facts. Version 1:
///
///     version, number of witnesses, witnesses (source, stamp) in ascending order,
///     then for each known field, in ascending order of its tag: tag, [witness], value
///
/// Witnesses are referred to by their position in the list, because most fields share one. Tags are never reused. The
/// key is not included: it is the key of the row.
extension ObservedTransaction {
    /// The version of new facts.
    public static let encodingVersion: UInt8 = 1

    /// Reads stored facts.
    ///
    /// - Throws: `unknownVersion`, or `malformed` for anything except the exact bytes that `encoded` gives.
    public convenience init(key: TransactionKey, encoded bytes: [UInt8]) throws(FactsDecodingError) {
        var decoder = try FieldDecoder(bytes, version: Self.encodingVersion)
        var fields = TransactionFields()
        while let tag = try decoder.nextTag() {
            guard try fields.decode(tag, &decoder) else { throw decoder.malformed }
        }
        guard decoder.hasUsedEveryWitness, decoder.lastTag != 41 || fields.hasUnusualUpgrade else {
            throw decoder.malformed
        }
        fields.lastWithdrawal = fields.lastWithdrawal ?? fields.currentWithdrawalDate
        self.init(key: key, fields: consume fields, encoded: bytes)
        assert(self.fields.encoded == bytes, "the reader accepts only what the writer writes")
    }
}

extension TransactionFields {
    /// The stored form.
    package var encoded: [UInt8] {
        var encoder = FieldEncoder()
        Self.visit(self, &encoder)
        return encoder.bytes(version: ObservedTransaction.encodingVersion)
    }

    /// The stamps of an upgrade of which only the first is stored: every signed transaction had the flag, and facts of
    /// older rules kept only the first.
    fileprivate func defaultUpgrade(_ earliest: Timestamp) -> StampedUpgrade {
        StampedUpgrade(earliest: earliest, newest: max(earliest, revocation?.stamp ?? earliest))
    }

    /// Whether the upgrade has stamps that must be stored: nearly all upgraded transactions were never signed without
    /// the flag since.
    fileprivate var hasUnusualUpgrade: Bool { upgrade.map { $0 != defaultUpgrade($0.earliest) } ?? false }

    /// Passes each field to the encoder, in the order of the tags.
    fileprivate static func visit(_ fields: TransactionFields, _ encoder: inout FieldEncoder) {
        encoder.add(1, fields.bundleID)
        encoder.add(2, fields.originalTransactionID)
        encoder.add(3, fields.productID)
        encoder.add(4, fields.kind)
        encoder.add(5, fields.subscriptionGroupID)
        encoder.add(6, fields.purchaseDate)
        encoder.add(7, fields.originalPurchaseDate)
        encoder.add(8, fields.quantity)
        encoder.add(9, fields.lineItemID)
        encoder.add(10, fields.ownershipType)
        encoder.add(11, fields.price)
        encoder.add(12, fields.storefront)
        encoder.add(13, fields.offer)
        encoder.add(14, fields.reason)
        encoder.add(15, fields.appTransactionID)
        encoder.add(16, fields.productNumber)
        encoder.add(17, fields.otherClaims)
        encoder.add(32, fields.receiptEnd)
        encoder.add(33, fields.firstEnd)
        encoder.add(34, fields.revocation)
        encoder.add(35, fields.cancellation)
        encoder.add(36, fields.upgrade?.earliest)
        encoder.add(37, fields.accountToken)
        // Most transactions were never revoked, or still are, so the date is that of the fields above.
        if fields.lastWithdrawal != fields.currentWithdrawalDate { encoder.add(38, fields.lastWithdrawal) }
        encoder.add(39, fields.seats)
        encoder.add(40, fields.signedEnd)
        if let upgrade = fields.upgrade, fields.hasUnusualUpgrade {
            encoder.add(41, upgrade.newest)
            encoder.add(42, upgrade.newestWithout)
        }
    }

    /// Reads the field with a tag.
    ///
    /// - Returns: whether there is a field with this tag.
    fileprivate mutating func decode(_ tag: UInt8, _ decoder: inout FieldDecoder) throws(FactsDecodingError) -> Bool {
        switch tag {
        case 1: bundleID = try decoder.witnessed()
        case 2: originalTransactionID = try decoder.witnessed()
        case 3: productID = try decoder.witnessed()
        case 4: kind = try decoder.witnessed()
        case 5: subscriptionGroupID = try decoder.witnessed()
        case 6: purchaseDate = try decoder.witnessed()
        case 7: originalPurchaseDate = try decoder.witnessed()
        case 8: quantity = try decoder.witnessed()
        case 9: lineItemID = try decoder.witnessed()
        case 10: ownershipType = try decoder.witnessed()
        case 11: price = try decoder.witnessed()
        case 12: storefront = try decoder.witnessed()
        case 13: offer = try decoder.witnessed()
        case 14: reason = try decoder.witnessed()
        case 15: appTransactionID = try decoder.witnessed()
        case 16: productNumber = try decoder.witnessed()
        case 17: otherClaims = try decoder.witnessed()
        case 32: receiptEnd = try decoder.value()
        case 33: firstEnd = try decoder.value()
        case 34: revocation = try decoder.value()
        case 35: cancellation = try decoder.value()
        case 36: upgrade = defaultUpgrade(try decoder.value())
        case 37: accountToken = try decoder.value()
        case 38:
            lastWithdrawal = try decoder.value()
            return lastWithdrawal != currentWithdrawalDate
        case 39: seats = try decoder.value()
        case 40: signedEnd = try decoder.witnessed()
        case 41:
            guard let known = upgrade else { return false }
            upgrade = StampedUpgrade(earliest: known.earliest, newest: try decoder.value())
        case 42:
            guard decoder.formerTag == 41 else { return false }
            upgrade?.newestWithout = try decoder.value()
        default: return false
        }
        return true
    }
}

/// Collects fields and their witnesses.
private struct FieldEncoder {
    private var witnesses: Set<Witness> = []
    private var fields: [(tag: UInt8, witness: Witness?, value: [UInt8])] = []

    mutating func add<Value>(_ tag: UInt8, _ field: Witnessed<Value>?) {
        guard let field else { return }
        witnesses.insert(field.witness)
        fields.append((tag, field.witness, field.value.canonicalBytes))
    }

    mutating func add(_ tag: UInt8, _ value: (some CanonicalValue)?) {
        guard let value else { return }
        fields.append((tag, nil, value.canonicalBytes))
    }

    func bytes(version: UInt8) -> [UInt8] {
        let sorted = witnesses.sorted()
        var places: [Witness: UInt64] = [:]
        var writer = CanonicalWriter(capacity: 256)
        writer.write(byte: version)
        writer.write(UInt64(sorted.count))
        for (place, witness) in sorted.enumerated() {
            places[witness] = UInt64(place)
            writer.write(byte: witness.source.rawValue)
            writer.write(witness.stamp)
        }
        for field in fields {
            writer.write(byte: field.tag)
            if let witness = field.witness { writer.write(places[witness] ?? 0) }
            writer.write(bytes: field.value)
        }
        return writer.bytes
    }
}

/// Reads fields in ascending order of their tags.
private struct FieldDecoder {
    private var reader: CanonicalReader
    private var witnesses: [Witness] = []
    /// The witnesses that fields have referred to, one bit each.
    private var used: UInt64 = 0
    private(set) var lastTag: UInt8 = 0
    private(set) var formerTag: UInt8 = 0

    init(_ bytes: [UInt8], version: UInt8) throws(FactsDecodingError) {
        reader = CanonicalReader(bytes)
        let found = try reader.byte()
        guard found == version else { throw .unknownVersion(found) }
        let count = try reader.unsigned()
        // Each takes at least two bytes, and there are at most as many as fields.
        guard count <= 64 else { throw reader.malformed }
        for _ in 0..<count {
            guard let source = EvidenceSource(rawValue: try reader.byte()) else { throw reader.malformed }
            let stamp = try reader.moment()
            let witness = Witness(source: source, stamp: stamp)
            guard witness.stamp == stamp, witnesses.last.map({ $0 < witness }) ?? true else { throw reader.malformed }
            witnesses.append(witness)
        }
    }

    var hasUsedEveryWitness: Bool { used == 1 << UInt64(witnesses.count) &- 1 }

    var malformed: FactsDecodingError { reader.malformed }

    mutating func nextTag() throws(FactsDecodingError) -> UInt8? {
        guard !reader.isAtEnd else { return nil }
        let tag = try reader.byte()
        guard tag > lastTag else { throw reader.malformed }
        (formerTag, lastTag) = (lastTag, tag)
        return tag
    }

    mutating func witnessed<Value>() throws(FactsDecodingError) -> Witnessed<Value> {
        guard let place = Int(exactly: try reader.unsigned()), witnesses.indices.contains(place) else {
            throw reader.malformed
        }
        used |= 1 << UInt64(place)
        return Witnessed(value: try reader.value(), witness: witnesses[place])
    }

    mutating func value<Value: CanonicalValue>() throws(FactsDecodingError) -> Value { try reader.value() }
}

extension StampedRevocation: CanonicalValue {
    init(from reader: inout CanonicalReader) throws(FactsDecodingError) {
        stamp = try reader.moment()
        revocation = try reader.optional()
    }

    func encode(to writer: inout CanonicalWriter) {
        writer.write(stamp)
        writer.write(optional: revocation)
    }
}

extension StampedSeats: CanonicalValue {
    init(from reader: inout CanonicalReader) throws(FactsDecodingError) {
        stamp = try reader.moment()
        seats = try reader.value()
    }

    func encode(to writer: inout CanonicalWriter) {
        writer.write(stamp)
        writer.write(seats)
    }
}

extension StampedToken: CanonicalValue {
    package init(from reader: inout CanonicalReader) throws(FactsDecodingError) {
        stamp = try reader.moment()
        token = try reader.value()
    }

    package func encode(to writer: inout CanonicalWriter) {
        writer.write(stamp)
        writer.write(token)
    }
}

/// The stored form of renewal info. Version 2: version, stamp, renewal info. The subscription and the transaction
/// signed beside it are the key of the row. A grace period whose end is not known has the latest time as its end.
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
        guard version == Self.encodingVersion else { throw .unknownVersion(version) }
        self.init(key: key, stamp: try reader.moment(), info: try reader.value(), beside: beside)
        guard reader.isAtEnd, self.encoded == encoded else { throw reader.malformed }
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
