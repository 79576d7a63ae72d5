/// Everything that determines a transaction receipt, before it is signed. Faults change it.
struct TransactionReceiptPlan {
    var template: TransactionReceiptTemplate
    let version: TransactionReceiptVersion
    /// The version byte that is written and signed.
    var versionByte: UInt8
    /// The issuer of the leaf.
    var issuer: SigningIdentity
    var leaf: SigningIdentity
    /// The trust anchor far above the leaf.
    let root: SigningIdentity
    var digest: ReceiptDigest
    /// The key to sign with in place of the leaf's.
    var signerKey: SigningKey?
    /// The bytes that are signed in place of the template's.
    var purchaseInfo: [UInt8]?

    init(
        template: TransactionReceiptTemplate, version: TransactionReceiptVersion, authority: AppStoreAuthority
    ) {
        self.template = template
        self.version = version
        versionByte = version.rawValue
        issuer = authority.transactionReceiptIssuer(version)
        leaf = authority.transactionReceiptLeaf(version)
        root = authority.receipts.root
        digest = version.digest
    }

    /// Signs the version byte and the bytes after it.
    func message() throws -> TransactionReceiptMessage {
        let purchaseInfo = purchaseInfo ?? template.purchaseInfo()
        let key = signerKey ?? leaf.privateKey
        return TransactionReceiptMessage(
            version: versionByte,
            signature: try key.signature(of: [versionByte] + purchaseInfo, digest: digest),
            certificate: leaf.certificate,
            purchaseInfo: purchaseInfo,
            environment: template.environment,
            pod: template.pod,
            signingStatus: template.signingStatus
        )
    }
}
