import EvidenceMint
import Foundation

extension AppReceiptTemplate {
    /// The receipt on a customer's device.
    /// - Parameters:
    ///   - creationDate: when it is signed.
    ///   - sentDate: the creation date of the receipt that the device sent, if this receipt is a newer one in the
    ///     answer.
    init(
        _ receipt: StoreReceipt, transactions: [StoreTransaction], app: StoreApp, customer: StoreCustomer,
        products: (StoreTransaction) -> StoreProduct?, creationDate: Date, sentDate: Date
    ) {
        let purchases = transactions.map { PurchaseTemplate($0, product: products($0)) }
        let device = UUID(uuidString: customer.deviceID).map(\.bytes) ?? Self.noDevice
        switch customer.environment {
        case .production:
            self = .production(
                bundleID: app.bundleID, creationDate: creationDate, purchases: purchases, device: device)
            adamID = app.appID
            sentReceiptCreationDate = sentDate
            originalPurchaseDate = receipt.originalPurchaseDate
            originalApplicationVersion = receipt.applicationVersion
        case .sandbox:
            self = .sandbox(
                bundleID: app.bundleID, creationDate: creationDate, purchases: purchases, device: device)
        }
        receiptType = app.environmentNames.receiptType(of: customer.environment)
        applicationVersion = receipt.applicationVersion
    }
}

extension StoreTransaction {
    /// Transactions in the order in which a receipt lists them: its own, the DER order of a SET OF (the shorter entry
    /// first, then by their bytes).
    static func inReceiptOrder(
        _ transactions: [StoreTransaction], products: (StoreTransaction) -> StoreProduct?
    ) -> [StoreTransaction] {
        let entries = transactions.map { transaction in
            let template = PurchaseTemplate(transaction, product: products(transaction))
            return (transaction, template.der)
        }
        return entries.sorted { left, right in
            left.1.count == right.1.count ? left.1.lexicographicallyPrecedes(right.1) : left.1.count < right.1.count
        }.map(\.0)
    }
}

extension UUID {
    /// The 16 octets.
    var bytes: [UInt8] {
        withUnsafeBytes(of: uuid) { Array($0) }
    }
}
