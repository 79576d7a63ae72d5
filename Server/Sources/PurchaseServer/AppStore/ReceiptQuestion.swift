package import AppStoreConnection
package import PurchaseVerification

/// A question to `verifyReceipt` about verified evidence.
package struct ReceiptQuestion: Sendable {
    /// The facts that the receipt itself proves.
    package let evidence: VerifiedEvidence
    package let request: ReceiptValidationRequest

    /// - Parameters:
    ///   - verified: the evidence.
    ///   - bytes: the receipt as it was signed, not base64.
    ///   - app: the key by which calls in flight are limited.
    /// - Returns: `nil` for evidence that `verifyReceipt` does not read: it reads app receipts and transaction
    ///   receipts, and none of Xcode's.
    package init?(
        _ verified: VerifiedEvidence, bytes: [UInt8], app: String, excludesOldTransactions: Bool = false,
        sharedSecret: SharedSecret?
    ) {
        let (environment, autoRenewables): (AppStoreEnvironment?, ReceiptValidationRequest.AutoRenewables)
        switch verified {
        case .appReceipt(let receipt):
            environment = receipt.environment
            // A receipt without purchases does not show whether the customer has a subscription.
            autoRenewables =
                receipt.inAppPurchases.isEmpty
                ? .unknown : receipt.inAppPurchases.contains(where: \.isAutoRenewable) ? .present : .absent
        case .transactionReceipt(let receipt):
            environment = receipt.environment
            autoRenewables = receipt.expiresDate == nil ? .absent : .present
        case .signedTransaction, .signedRenewalInfo, .appTransaction, .notification, .realtimeRequest: return nil
        }
        guard environment != .xcode else { return nil }
        evidence = verified
        request = ReceiptValidationRequest(
            receipt: bytes, app: app, autoRenewables: autoRenewables,
            excludesOldTransactions: excludesOldTransactions, sharedSecret: sharedSecret)
    }
}
