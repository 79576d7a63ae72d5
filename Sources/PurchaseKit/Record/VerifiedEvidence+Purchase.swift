import Foundation
import PurchaseVerification

/// The facts that signed evidence states about one of its transactions.
extension VerifiedEvidence {
    /// The transaction of the evidence that proves a transaction of the queue.
    ///
    /// A restored transaction of the original API has an id of its own, which the receipt need not contain. Its
    /// original transaction proves it; for a subscription, the newest period that was not withdrawn.
    func facts(proving transaction: PaymentTransaction) -> TransactionFacts? {
        let all = facts.transactions
        if let own = all.first(where: { transaction.transactionID?.isSame(as: $0.transactionID) ?? false }) {
            return own
        }
        guard transaction.state == .restored else { return nil }
        let ids = [transaction.transactionID, transaction.originalTransactionID].compactMap(\.self)
        let copies = all.filter { fact in
            ids.contains { $0.isSame(as: fact.transactionID) || $0.isSame(as: fact.originalTransactionID) }
        }
        let ofProduct = copies.filter { transaction.productID.isSame(as: $0.productID) }
        let candidates = (ofProduct.isEmpty ? copies : ofProduct).map { fact in
            (
                fact, withdrawal(of: fact.transactionID) == nil,
                expirationDate(of: fact.transactionID) ?? fact.purchaseDate?.date ?? .distantPast
            )
        }
        return candidates.max { left, right in left.1 == right.1 ? left.2 < right.2 : right.1 }?.0
    }

    /// Whether nobody asked for the purchase in the app: a renewal, or a purchase of somebody in the family.
    var isWithoutCall: Bool {
        guard case .signedTransaction(let transaction) = self else { return false }
        return transaction.transactionReason == .renewal || transaction.ownershipType == .familyShared
    }

    /// Whether somebody bought it in the app, instead of a renewal; `false` if the evidence does not state it.
    var isPurchase: Bool {
        guard case .signedTransaction(let transaction) = self else { return false }
        return transaction.transactionReason == .purchase
    }

    /// The customer's UUID in it; receipts have none.
    var appAccountToken: UUID? {
        guard case .signedTransaction(let transaction) = self else { return nil }
        return transaction.appAccountToken
    }

    /// Whether it comes through Family Sharing; `nil` if the evidence does not state it.
    func isFamilyShared(_ transactionID: String) -> Bool? {
        switch self {
        case .signedTransaction(let transaction): transaction.ownershipType.map { $0 == .familyShared }
        case .appReceipt(let receipt): receipt.purchase(transactionID)?.ownershipType.map { $0 == .familyShared }
        case .transactionReceipt(let receipt): receipt.ownershipType.map { $0 == .familyShared }
        default: nil
        }
    }

    /// The reason why the purchase was withdrawn; `nil` if it was not.
    func withdrawal(of transactionID: String) -> PurchaseError? {
        switch self {
        case .signedTransaction(let transaction):
            if transaction.revocationDate != nil { return PurchaseError(.purchaseRevoked) }
            return transaction.isUpgraded == true ? PurchaseError(.purchaseUpgraded) : nil
        case .appReceipt(let receipt):
            return receipt.purchase(transactionID)?.cancellationDate.map { _ in PurchaseError(.purchaseRevoked) }
        case .transactionReceipt(let receipt):
            return receipt.cancellationDate.map { _ in PurchaseError(.purchaseRevoked) }
        default: return nil
        }
    }

    /// Whether a purchase that ended at a date counts again, because this evidence does not withdraw it. A signed
    /// transaction is made anew; a receipt can be an old one.
    func reverses(anEndAt endedAt: Date) -> Bool {
        kind == .signedTransaction || facts.signingDate.map { $0.date > endedAt } ?? false
    }

    func productKind(of transactionID: String) -> PurchaseProductKind? {
        switch self {
        case .signedTransaction(let transaction):
            switch transaction.productType {
            case .consumable?: .consumable
            case .nonConsumable?: .nonConsumable
            case .nonRenewingSubscription?: .nonRenewingSubscription
            case .autoRenewableSubscription?: .autoRenewableSubscription
            default: nil
            }
        case .appReceipt(let receipt):
            switch receipt.purchase(transactionID)?.productType {
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
        case .appReceipt(let receipt): receipt.purchase(transactionID)?.expiresDate?.date
        case .transactionReceipt(let receipt): receipt.expiresDate?.date
        default: nil
        }
    }
}

extension AppReceipt {
    fileprivate func purchase(_ transactionID: String) -> InAppPurchase? {
        inAppPurchases.first { $0.transactionID.isSame(as: transactionID) }
    }
}
