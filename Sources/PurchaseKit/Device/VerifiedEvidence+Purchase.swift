import Foundation
import PurchaseVerification

/// What signed evidence says about one of its transactions.
extension VerifiedEvidence {
    /// Why the purchase is worth nothing any more; `nil` if it is not withdrawn.
    func withdrawal(of transactionID: String) -> PurchaseError? {
        switch self {
        case .signedTransaction(let transaction):
            if transaction.revocationDate != nil { return PurchaseError(.purchaseRevoked) }
            return transaction.isUpgraded == true ? PurchaseError(.purchaseUpgraded) : nil
        case .appReceipt(let receipt):
            let purchase = receipt.inAppPurchases.first { $0.transactionID.isSame(as: transactionID) }
            return purchase?.cancellationDate.map { _ in PurchaseError(.purchaseRevoked) }
        case .transactionReceipt(let receipt):
            return receipt.cancellationDate.map { _ in PurchaseError(.purchaseRevoked) }
        default: return nil
        }
    }

    /// The kind of product.
    func productKind(of transactionID: String) -> ProductKind? {
        switch self {
        case .signedTransaction(let transaction):
            switch transaction.type {
            case .consumable?: .consumable
            case .nonConsumable?: .nonConsumable
            case .nonRenewingSubscription?: .nonRenewingSubscription
            case .autoRenewableSubscription?: .autoRenewableSubscription
            default: nil
            }
        case .appReceipt(let receipt):
            switch receipt.inAppPurchases.first(where: { $0.transactionID.isSame(as: transactionID) })?.productType {
            case .consumable?: .consumable
            case .nonConsumable?: .nonConsumable
            case .nonRenewingSubscription?: .nonRenewingSubscription
            case .autoRenewableSubscription?, .freeSubscription?: .autoRenewableSubscription
            default: nil
            }
        default: nil
        }
    }

    /// When the paid period ends.
    func expirationDate(of transactionID: String) -> Date? {
        switch self {
        case .signedTransaction(let transaction): transaction.expiresDate?.date
        case .appReceipt(let receipt):
            receipt.inAppPurchases.first { $0.transactionID.isSame(as: transactionID) }?.expiresDate?.date
        case .transactionReceipt(let receipt): receipt.expiresDate?.date
        default: nil
        }
    }
}
