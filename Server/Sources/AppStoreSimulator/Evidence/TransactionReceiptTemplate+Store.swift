import EvidenceMint
import Foundation

extension TransactionReceiptTemplate {
    /// The transaction receipt of a transaction, as the customer's device has it.
    init(_ transaction: StoreTransaction, app: StoreApp, customer: StoreCustomer, product: StoreProduct?) {
        let isProduction = customer.environment == .production
        self.init(
            purchase: PurchaseTemplate(transaction, product: product), bundleID: app.bundleID,
            bundleVersion: app.version, environment: app.environmentNames.name(of: customer.environment),
            vendorIdentifier: UUID(uuidString: customer.deviceID))
        environment = isProduction && app.environmentNames == .apple ? nil : environment
        itemID = product?.productNumber
        appItemID = isProduction ? app.appID : nil
        versionExternalIdentifier = isProduction ? 870_000_001 : nil
        subscriptionGroupIdentifier = transaction.subscriptionGroupID
    }
}
