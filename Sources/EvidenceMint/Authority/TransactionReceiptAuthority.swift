/// The authority of transaction receipts of versions 2 and 4. Version 3 uses the leaf of app receipts.
///
/// A transaction receipt contains only the leaf, so a verifier must know the two intermediates beforehand.
public struct TransactionReceiptAuthority: Sendable {
    /// Issues the leaf of version 2, as Apple's iTunes Store authority did: below the receipts' root, with the marker
    /// 1.2.840.113635.100.6.2.2.
    public let storeIntermediate: SigningIdentity
    /// RSA with 1024 bits, the marker 1.2.840.113635.100.6.5.1, signed with SHA-1 below the store's intermediate.
    public let versionTwoLeaf: SigningIdentity
    /// RSA with 2048 bits, the marker 1.2.840.113635.100.6.11.1, below the intermediate of app receipts.
    public let versionFourLeaf: SigningIdentity

    /// Makes an authority with new keys.
    /// - Parameter receipts: the authority whose root and intermediate issue these certificates.
    /// - Throws: the errors of the crypto library if no key can be made.
    public init(below receipts: CertificateAuthority) throws {
        let storeKey = try SigningKey.makeRSA()
        var store = CertificateTemplate.storeIntermediate
        store.issuer = receipts.root.subject
        store.serialNumber = storeKey.serialNumber
        storeIntermediate = try SigningIdentity(store, key: storeKey, issuerKey: receipts.root.privateKey)

        let versionTwoKey = try SigningKey.makeRSA(bits: 1024)
        var versionTwo = CertificateTemplate.transactionReceiptLeaf(.two)
        versionTwo.serialNumber = versionTwoKey.serialNumber
        versionTwoLeaf = try SigningIdentity(versionTwo, key: versionTwoKey, issuerKey: storeKey)

        let versionFourKey = try SigningKey.makeRSA()
        var versionFour = CertificateTemplate.transactionReceiptLeaf(.four)
        versionFour.issuer = receipts.intermediate.subject
        versionFour.serialNumber = versionFourKey.serialNumber
        versionFourLeaf = try SigningIdentity(
            versionFour, key: versionFourKey, issuerKey: receipts.intermediate.privateKey)
    }

    /// Joins any three identities.
    public init(
        storeIntermediate: SigningIdentity,
        versionTwoLeaf: SigningIdentity,
        versionFourLeaf: SigningIdentity
    ) {
        self.storeIntermediate = storeIntermediate
        self.versionTwoLeaf = versionTwoLeaf
        self.versionFourLeaf = versionFourLeaf
    }
}

extension TransactionReceiptAuthority {
    init(_ store: IdentityFolder) throws {
        self.init(
            storeIntermediate: try store.identity("store-intermediate"),
            versionTwoLeaf: try store.identity("version-2-leaf"),
            versionFourLeaf: try store.identity("version-4-leaf")
        )
    }

    var folderContent: IdentityFolder.Content {
        IdentityFolder.Content(
            anchors: [("store-intermediate", storeIntermediate)],
            identities: [("version-2-leaf", versionTwoLeaf), ("version-4-leaf", versionFourLeaf)]
        )
    }
}

/// The version of a transaction receipt: the first byte of its signature field. It determines key and digest.
public enum TransactionReceiptVersion: UInt8, CaseIterable, Sendable {
    /// RSA with 1024 bits and SHA-1, by a separate leaf below the store's authority: 2011 to 2016.
    case two = 2
    /// RSA with 2048 bits and SHA-1, by the leaf that signs app receipts: 2017 to 2020.
    case three = 3
    /// RSA with 2048 bits and SHA-256, by a separate leaf below the authority of app receipts: seen in 2025.
    case four = 4
}

extension TransactionReceiptVersion {
    /// The bytes that the signature covers.
    public var digest: ReceiptDigest {
        switch self {
        case .two, .three: .sha1
        case .four: .sha256
        }
    }
}

extension AppStoreAuthority {
    public func transactionReceiptLeaf(_ version: TransactionReceiptVersion) -> SigningIdentity {
        switch version {
        case .two: transactionReceipts.versionTwoLeaf
        case .three: receipts.leaf
        case .four: transactionReceipts.versionFourLeaf
        }
    }

    /// The issuer of that leaf. Its certificate is not part of the receipt.
    public func transactionReceiptIssuer(_ version: TransactionReceiptVersion) -> SigningIdentity {
        switch version {
        case .two: transactionReceipts.storeIntermediate
        case .three, .four: receipts.intermediate
        }
    }
}
