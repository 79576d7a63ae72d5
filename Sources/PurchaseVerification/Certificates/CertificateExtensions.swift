/// The extensions of a certificate that a path depends on (RFC 5280, 4.2).
struct CertificateExtensions: Sendable {
    /// `cA` of the basic constraints; `false` if they are absent.
    private(set) var isAuthority = false
    /// The number of authorities that may follow below this one; `nil` for any number.
    private(set) var pathLength: Int64?
    /// The bits of the key usage, the first one (digitalSignature) highest; `nil` if the extension is absent.
    private(set) var keyUsage: UInt16?
    /// Whether the key is for certain purposes only (4.2.1.12).
    private(set) var hasExtendedKeyUsage = false
    /// Whether the certificate has Apple's marker for receipt signing.
    private(set) var hasReceiptSigningMarker = false
    /// Whether the certificate has Apple's marker of the Worldwide Developer Relations authorities.
    private(set) var hasDeveloperRelationsMarker = false
    /// Whether the certificate has Apple's marker for purchase receipts, which signed transaction receipts until 2016.
    private(set) var hasPurchaseReceiptMarker = false
    /// Whether this is Apple's iTunes Store authority.
    private(set) var hasITunesStoreMarker = false
    /// The first critical extension that is not understood here.
    private(set) var unknownCriticalExtension: String?

    init() {}

    /// - Parameter content: the content of Extensions ::= SEQUENCE OF Extension.
    init(_ bytes: Span<UInt8>, _ content: Range<Int>) throws(VerificationError) {
        var cursor = DERCursor(content)
        var seen: [[UInt8]] = []
        while !cursor.isAtEnd {
            var fields = DERCursor(try cursor.next(DERTag.sequence, bytes).content)
            let oid = try fields.next(DERTag.objectIdentifier, bytes).content
            var isCritical = false
            if let critical = try fields.nextIf(DERTag.boolean, bytes)?.content {
                // DEFAULT FALSE: in DER only TRUE is written, as FF.
                guard critical.count == 1, bytes[critical.lowerBound] == 0xFF else {
                    throw VerificationError(.certificateMalformed, found: "a critical flag that is not TRUE")
                }
                isCritical = true
            }
            let value = try fields.next(DERTag.octetString, bytes).content
            try fields.finish()
            guard seen.count < VerificationBudget.extensions, oid.count <= VerificationBudget.shownBytes else {
                throw VerificationError(
                    .certificateMalformed,
                    expected: "at most \(VerificationBudget.extensions) extensions with short names",
                    found: "more, or longer ones")
            }
            let identifier = bytes.copy(oid)
            guard !Self.contains(identifier, in: seen) else {
                throw VerificationError(
                    .certificateMalformed, found: "extension \(ObjectIdentifier.dotted(identifier)) twice")
            }
            seen.append(identifier)
            try read(bytes, oid, value, isCritical)
        }
    }

    private mutating func read(
        _ bytes: Span<UInt8>, _ oid: Range<Int>, _ value: Range<Int>, _ isCritical: Bool
    ) throws(VerificationError) {
        if bytes.holds(ObjectIdentifier.basicConstraints, at: oid) {
            try readBasicConstraints(bytes, value)
        } else if bytes.holds(ObjectIdentifier.keyUsage, at: oid) {
            try readKeyUsage(bytes, value)
        } else if bytes.holds(ObjectIdentifier.receiptSigningMarker, at: oid) {
            hasReceiptSigningMarker = true
        } else if bytes.holds(ObjectIdentifier.developerRelationsMarker, at: oid) {
            hasDeveloperRelationsMarker = true
        } else if bytes.holds(ObjectIdentifier.purchaseReceiptMarker, at: oid) {
            hasPurchaseReceiptMarker = true
        } else if bytes.holds(ObjectIdentifier.iTunesStoreMarker, at: oid) {
            hasITunesStoreMarker = true
        } else if bytes.holds(ObjectIdentifier.extendedKeyUsage, at: oid) {
            hasExtendedKeyUsage = true
        } else if isCritical, !bytes.holds(ObjectIdentifier.certificatePolicies, at: oid) {
            // Policies do not restrict a path if the caller requires none (RFC 5280, 6.1.5 g), so they may be critical.
            unknownCriticalExtension = unknownCriticalExtension ?? ObjectIdentifier.dotted(bytes.shown(oid))
        }
    }

    private mutating func readBasicConstraints(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(VerificationError) {
        var outer = DERCursor(value)
        var fields = DERCursor(try outer.next(DERTag.sequence, bytes).content)
        try outer.finish()
        if let authority = try fields.nextIf(DERTag.boolean, bytes)?.content {
            guard authority.count == 1, bytes[authority.lowerBound] == 0xFF else {
                throw VerificationError(.certificateMalformed, found: "a CA flag that is not TRUE")
            }
            isAuthority = true
        }
        if let length = try fields.nextIf(DERTag.integer, bytes)?.content {
            guard let length = try DERInteger.int64(bytes, length), length >= 0, isAuthority else {
                throw VerificationError(.certificateMalformed, found: "a path length that cannot be")
            }
            pathLength = length
        }
        try fields.finish()
    }

    private mutating func readKeyUsage(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(VerificationError) {
        var outer = DERCursor(value)
        let bits = try outer.next(DERTag.bitString, bytes).content
        try outer.finish()
        guard (2...3).contains(bits.count), bytes[bits.lowerBound] < 8 else {
            throw VerificationError(.certificateMalformed, found: "a key usage of \(bits.count) bytes")
        }
        let first = UInt16(bytes[bits.lowerBound + 1]) << 8
        keyUsage = bits.count == 3 ? first | UInt16(bytes[bits.lowerBound + 2]) : first
    }

    /// Whether the key may sign data other than certificates. An absent key usage allows everything (RFC 5280,
    /// 4.2.1.3).
    var maySignContent: Bool { keyUsage.map { $0 & 0x8000 != 0 } ?? true }

    /// Whether the key may sign certificates of receipt signers. An authority with an extended key usage may not,
    /// because it does not include receipts; Xcode's signing certificate, which every developer holds, is such an
    /// authority.
    var maySignCertificates: Bool { !hasExtendedKeyUsage && (keyUsage.map { $0 & 0x0400 != 0 } ?? true) }

    /// A separate function that does not throw (docs/decisions.md, 6).
    @inline(never)
    private static func contains(_ identifier: [UInt8], in seen: [[UInt8]]) -> Bool {
        seen.contains { $0 == identifier }
    }
}
