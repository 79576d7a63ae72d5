public import Foundation

/// Everything that a store signs with: app receipts, transaction receipts and signed payloads.
///
/// ```swift
/// let authority = try AppStoreAuthority(folder: URL(fileURLWithPath: "assay-authority"))
/// let coins = PurchaseTemplate.consumable(productID: "coins", transactionID: "1000", purchaseDate: .now)
/// let template = SignedTransactionTemplate(purchase: coins, bundleID: "com.example.app")
/// let transaction = try SignedPayloadEncoder(authority: authority).encode(template)
/// ```
///
/// No name in it can be mistaken for one of Apple's.
public struct AppStoreAuthority: Sendable {
    /// Signs app receipts, and transaction receipts of version 3 with the same leaf, as Apple does.
    public let receipts: CertificateAuthority
    /// Signs transaction receipts of versions 2 and 4.
    public let transactionReceipts: TransactionReceiptAuthority
    /// Signs transactions, renewal information, app transactions and notifications.
    public let signedPayload: SignedPayloadAuthority

    /// Makes an authority with new keys, which can take a few seconds. Its certificates are valid from 2008 to 2049.
    /// - Throws: the errors of the crypto library if no key can be made.
    public init() throws {
        let receipts = try CertificateAuthority()
        self.init(
            receipts: receipts, transactionReceipts: try TransactionReceiptAuthority(below: receipts),
            signedPayload: try SignedPayloadAuthority()
        )
    }

    public init(
        receipts: CertificateAuthority, transactionReceipts: TransactionReceiptAuthority,
        signedPayload: SignedPayloadAuthority
    ) {
        self.receipts = receipts
        self.transactionReceipts = transactionReceipts
        self.signedPayload = signedPayload
    }

    /// An authority that is made once and kept in a folder:
    ///
    /// - `trust.pem`: all certificates that a verifier must trust.
    /// - `root`, `intermediate`, `leaf`: the authority of `receipts`, as `CertificateAuthority(folder:)` keeps it.
    /// - `transaction-receipts/`: `store-intermediate`, `version-2-leaf` and `version-4-leaf`.
    /// - `signed-data/`: `root`, `intermediate` and `leaf`.
    ///
    /// Each certificate has the ending `.der`, its key `.key.pem`, which only the owner may read; roots are also
    /// written as `.pem`. If several processes start at once, one of them makes the authority and all of them use it. A
    /// folder that `CertificateAuthority(folder:)` made is completed without changing its files.
    /// - Parameter folder: the path of the folder. It may be missing or empty, but not a mount point, because it is put
    ///   in place as a whole by renaming another folder.
    /// - Throws: `MintError` when the folder cannot be read or written, or holds something else.
    public init(folder: URL) throws {
        let store = IdentityFolder(folder)
        if !store.isInhabited { try store.publish(try AppStoreAuthority().folderContent) }
        // The folder is always read back: if two processes made one at once, only its content counts.
        let receipts = try CertificateAuthority(store)
        let transactionReceipts = store.subfolder(Self.transactionReceiptsFolder)
        if !transactionReceipts.isInhabited {
            try transactionReceipts.publish(try TransactionReceiptAuthority(below: receipts).folderContent)
        }
        let signedPayload = store.subfolder(Self.signedPayloadFolder)
        if !signedPayload.isInhabited {
            try signedPayload.publish(try SignedPayloadAuthority().chain.folderContent)
        }
        self.init(
            receipts: receipts, transactionReceipts: try TransactionReceiptAuthority(transactionReceipts),
            signedPayload: SignedPayloadAuthority(chain: try CertificateAuthority(signedPayload))
        )
        try store.complete(Self.trustFile, trustedCertificatesPEM)
    }

    /// All certificates that a verifier must trust, as one PEM text: both roots, and the two intermediates that issue
    /// the leaves of transaction receipts, which contain only the leaf.
    public var trustedCertificatesPEM: String {
        [receipts.root, signedPayload.root, receipts.intermediate, transactionReceipts.storeIntermediate]
            .map(\.pem).joined()
    }

    /// The name of the file with `trustedCertificatesPEM` in an authority's folder.
    public static let trustFile = "trust.pem"
}

extension AppStoreAuthority {
    static let transactionReceiptsFolder = "transaction-receipts"
    static let signedPayloadFolder = "signed-data"

    private var folderContent: IdentityFolder.Content {
        var content = receipts.folderContent
        content.texts = [(Self.trustFile, trustedCertificatesPEM)]
        content.folders = [
            Self.transactionReceiptsFolder: transactionReceipts.folderContent,
            Self.signedPayloadFolder: signedPayload.chain.folderContent,
        ]
        return content
    }
}

/// The authority of signed payloads, with the structure of the one that vouches for payloads of StoreKit 2 and the App
/// Store server: a P-384 root, a P-384 intermediate, and a P-256 leaf, all certificates signed with
/// `ecdsa-with-SHA384`.
public struct SignedPayloadAuthority: Sendable {
    /// The same three identities; the operations on them do not depend on the kind of keys.
    let chain: CertificateAuthority

    /// The trust anchor to hand to a verifier. It is the last in every `x5c`.
    public var root: SigningIdentity { chain.root }
    /// Carries the marker 1.2.840.113635.100.6.2.1.
    public var intermediate: SigningIdentity { chain.intermediate }
    /// Carries the marker 1.2.840.113635.100.6.11.1.
    public var leaf: SigningIdentity { chain.leaf }

    /// Makes an authority with new keys.
    /// - Parameters:
    ///   - createdAt: when all three certificates begin to be valid.
    ///   - validity: other periods, certificate by certificate. They last until the end of 2049 by default.
    /// - Throws: the errors of the crypto library if a key cannot sign.
    public init(
        createdAt: Date = CertificateTemplate.earliestDate, validity: CertificateAuthority.Validity = .init()
    ) throws {
        chain = try CertificateAuthority(
            keys: .elliptic(), standard: (.signedPayloadRoot, .signedPayloadIntermediate, .signedPayloadLeaf),
            createdAt: createdAt, validity: validity, signatureAlgorithm: .ecdsaWithSHA384)
    }

    /// Joins any three identities. The leaf needs a P-256 key to sign with ES256.
    public init(root: SigningIdentity, intermediate: SigningIdentity, leaf: SigningIdentity) {
        chain = CertificateAuthority(root: root, intermediate: intermediate, leaf: leaf)
    }

    init(chain: CertificateAuthority) { self.chain = chain }
}

extension SignedPayloadAuthority {
    /// The same authority with another root certificate for the same key.
    /// - Throws: the errors of the crypto library if the key cannot sign.
    public func replacingRoot(_ change: (inout CertificateTemplate) -> Void) throws -> SignedPayloadAuthority {
        SignedPayloadAuthority(chain: try chain.replacingRoot(change))
    }

    /// The same authority with another intermediate certificate for the same key, signed by the root.
    /// - Throws: the errors of the crypto library if the key cannot sign.
    public func replacingIntermediate(_ change: (inout CertificateTemplate) -> Void) throws -> SignedPayloadAuthority {
        SignedPayloadAuthority(chain: try chain.replacingIntermediate(change))
    }

    /// The same authority with another leaf certificate for the same key, signed by the intermediate.
    /// - Throws: the errors of the crypto library if the key cannot sign.
    public func replacingLeaf(_ change: (inout CertificateTemplate) -> Void) throws -> SignedPayloadAuthority {
        SignedPayloadAuthority(chain: try chain.replacingLeaf(change))
    }
}

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

    public init(storeIntermediate: SigningIdentity, versionTwoLeaf: SigningIdentity, versionFourLeaf: SigningIdentity) {
        self.storeIntermediate = storeIntermediate
        self.versionTwoLeaf = versionTwoLeaf
        self.versionFourLeaf = versionFourLeaf
    }
}

extension TransactionReceiptAuthority {
    init(_ store: IdentityFolder) throws {
        self.init(
            storeIntermediate: try store.identity("store-intermediate"),
            versionTwoLeaf: try store.identity("version-2-leaf"), versionFourLeaf: try store.identity("version-4-leaf")
        )
    }

    var folderContent: IdentityFolder.Content {
        IdentityFolder.Content(
            anchors: [("store-intermediate", storeIntermediate)],
            identities: [("version-2-leaf", versionTwoLeaf), ("version-4-leaf", versionFourLeaf)])
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
