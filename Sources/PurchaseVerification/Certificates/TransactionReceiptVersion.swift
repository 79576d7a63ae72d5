/// The version of a transaction receipt's signature, which is its first byte and signed with the content.
public enum TransactionReceiptVersion: UInt8, Sendable, CaseIterable {
    /// 2009 to 2016: RSA with 1,024 bit and SHA-1, by a purchase receipt certificate below the iTunes Store authority.
    case two = 2
    /// 2017 to 2020: RSA with 2,048 bit and SHA-1, by a receipt signing certificate below a developer relations
    /// authority.
    case three = 3
    /// Since then: RSA with 2,048 bit and SHA-256, by a receipt signing certificate below a developer relations
    /// authority.
    case four = 4

    /// The length of the signature, and so of the key's modulus.
    var signatureBytes: Int { self == .two ? 128 : 256 }

    var digestAlgorithm: DigestAlgorithm { self == .four ? .sha256 : .sha1 }

    /// The authorities that may have issued the leaf.
    var issuingRole: IssuingAuthority.Role { self == .two ? .iTunesStore : .developerRelations }

    /// The marker extension that the leaf must carry.
    var leafMarker: [UInt8] {
        self == .two ? ObjectIdentifier.purchaseReceiptMarker : ObjectIdentifier.receiptSigningMarker
    }

    func isMarked(_ leaf: Certificate) -> Bool {
        self == .two ? leaf.extensions.hasPurchaseReceiptMarker : leaf.extensions.hasReceiptSigningMarker
    }
}
