/// The object identifiers that receipts and their certificates use, as the content octets of their DER.
enum ObjectIdentifier {
    // RFC 5652
    static let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
    static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
    static let contentType: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x03]
    static let messageDigest: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x04]

    // RFC 8017 and RFC 3279
    static let rsaEncryption: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
    static let sha1WithRSAEncryption: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x05]
    static let sha256WithRSAEncryption: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B]
    static let sha384WithRSAEncryption: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0C]
    static let sha512WithRSAEncryption: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0D]

    // RFC 5758
    static let ecdsaWithSHA256: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]
    static let ecdsaWithSHA384: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x03]
    static let ecPublicKey: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    static let secp256r1: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    static let secp384r1: [UInt8] = [0x2B, 0x81, 0x04, 0x00, 0x22]

    // FIPS 180 digests
    static let sha1: [UInt8] = [0x2B, 0x0E, 0x03, 0x02, 0x1A]
    static let sha256: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]
    static let sha384: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02]
    static let sha512: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x03]

    // RFC 5280 extensions
    static let keyUsage: [UInt8] = [0x55, 0x1D, 0x0F]
    static let basicConstraints: [UInt8] = [0x55, 0x1D, 0x13]
    static let certificatePolicies: [UInt8] = [0x55, 0x1D, 0x20]
    static let extendedKeyUsage: [UInt8] = [0x55, 0x1D, 0x25]

    /// 1.2.840.113635.100.6.11.1: the certificate signs App Store receipts.
    static let receiptSigningMarker: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x06, 0x0B, 0x01]
    /// 1.2.840.113635.100.6.2.1: the certificate is a Worldwide Developer Relations authority.
    static let developerRelationsMarker: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x06, 0x02, 0x01]

    /// 1.2.840.113635.100.6.5.1: the certificate signs transaction receipts, as until 2016.
    static let purchaseReceiptMarker: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x06, 0x05, 0x01]
    /// 1.2.840.113635.100.6.2.2: the certificate is the iTunes Store authority.
    static let iTunesStoreMarker: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x06, 0x02, 0x02]

    /// The dotted form of the content octets, as far as they are well formed (X.690, 8.19).
    static func dotted(_ content: some Sequence<UInt8>) -> String {
        var arcs: [UInt64] = []
        var value: UInt64 = 0
        for (index, byte) in content.enumerated() {
            guard index < VerificationBudget.shownBytes, value >> 57 == 0 else {
                return "an object identifier that is too long"
            }
            value = value << 7 | UInt64(byte & 0x7F)
            guard byte & 0x80 == 0 else { continue }
            if arcs.isEmpty {
                let first = Swift.min(value / 40, 2)
                arcs = [first, value - first * 40]
            } else {
                arcs.append(value)
            }
            value = 0
        }
        return arcs.map { "\($0)" }.joined(separator: ".")
    }
}

extension Span where Element == UInt8 {
    /// Whether the bytes between the offsets are exactly these.
    @inline(__always)
    func holds(_ expected: [UInt8], at range: Range<Int>) -> Bool {
        guard range.count == expected.count, range.lowerBound >= 0, range.upperBound <= count else { return false }
        var offset = range.lowerBound
        for byte in expected {
            guard self[offset] == byte else { return false }
            offset += 1
        }
        return true
    }

    /// As many of the bytes between the offsets as a message shows, and one more where there are more.
    func shown(_ range: Range<Int>) -> [UInt8] { copy(range.prefix(VerificationBudget.shownBytes + 1)) }

    /// A copy of the bytes between the offsets, which must lie within the span.
    func copy(_ range: Range<Int>) -> [UInt8] {
        extracting(range).withUnsafeBufferPointer { [UInt8]($0) }
    }
}
