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
