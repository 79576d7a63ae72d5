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
            receipts: receipts,
            transactionReceipts: try TransactionReceiptAuthority(below: receipts),
            signedPayload: try SignedPayloadAuthority()
        )
    }

    /// Joins any three authorities.
    public init(
        receipts: CertificateAuthority,
        transactionReceipts: TransactionReceiptAuthority,
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
        if !store.isInhabited {
            try store.publish(try AppStoreAuthority().folderContent)
        }
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
            receipts: receipts,
            transactionReceipts: try TransactionReceiptAuthority(transactionReceipts),
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
