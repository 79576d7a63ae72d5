import Foundation

/// A state of a transaction that StoreKit delivers more than once: at the purchase, by `updates` and by `unfinished`.
struct TransactionVersion: Hashable {
    let key: PurchaseKey
    let revocationDate: Date?
    let isUpgraded: Bool
    let expirationDate: Date?

    init(_ transaction: PaymentTransaction, _ key: PurchaseKey) {
        self.key = PurchaseKey(environment: nil, transactionID: key.transactionID)
        revocationDate = transaction.revocationDate
        isUpgraded = transaction.isUpgraded
        expirationDate = transaction.expirationDate
    }
}
