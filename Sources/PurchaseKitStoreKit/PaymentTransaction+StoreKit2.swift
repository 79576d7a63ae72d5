#if canImport(StoreKit)
    public import PurchaseKit
    public import StoreKit

    extension PaymentTransaction {
        /// A transaction with StoreKit's proof, verified by StoreKit or not.
        public init(_ result: VerificationResult<StoreKit.Transaction>) {
            let isVerified: Bool
            switch result {
            case .verified: isVerified = true
            case .unverified: isVerified = false
            }
            let transaction = result.unsafePayloadValue
            self.init(
                transactionID: "\(transaction.id)", originalTransactionID: "\(transaction.originalID)",
                productID: transaction.productID, quantity: transaction.purchasedQuantity,
                appAccountToken: transaction.appAccountToken, signedTransaction: result.jwsRepresentation,
                isVerifiedByStoreKit: isVerified, purchaseDate: transaction.purchaseDate,
                expirationDate: transaction.expirationDate, revocationDate: transaction.revocationDate,
                isUpgraded: transaction.isUpgraded)
        }
    }
#endif
