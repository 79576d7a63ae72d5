/// How a transaction receipt is signed: the first byte of its signature.
public enum TransactionReceiptVersion: UInt8, CaseIterable, Sendable {
    /// RSA with 1024 bits and SHA-1, by a leaf of its own below the store's authority: 2011 to 2016.
    case two = 2
    /// RSA with 2048 bits and SHA-1, by the leaf that signs app receipts: 2017 to 2020.
    case three = 3
    /// RSA with 2048 bits and SHA-256, by a leaf of its own below the authority of app receipts: seen in 2025.
    case four = 4
}

extension TransactionReceiptVersion {
    /// What the signature is made over.
    public var digest: ReceiptDigest {
        switch self {
        case .two, .three: .sha1
        case .four: .sha256
        }
    }
}

extension AppStoreAuthority {
    /// Who signs transaction receipts of a version.
    public func transactionReceiptLeaf(_ version: TransactionReceiptVersion) -> SigningIdentity {
        switch version {
        case .two: transactionReceipts.versionTwoLeaf
        case .three: receipts.leaf
        case .four: transactionReceipts.versionFourLeaf
        }
    }

    /// Who issued that leaf. Its certificate does not travel with the receipt.
    public func transactionReceiptIssuer(_ version: TransactionReceiptVersion) -> SigningIdentity {
        switch version {
        case .two: transactionReceipts.storeIntermediate
        case .three, .four: receipts.intermediate
        }
    }
}
