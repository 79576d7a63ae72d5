package import EvidenceMint
import Foundation

/// Signs the store's state, without faults and without remembering the result: evidence for tests of other modules.
package struct StoreEvidence: Sendable {
    private let issuer: EvidenceIssuer

    /// Evidence below an authority.
    package init(authority: AppStoreAuthority) {
        issuer = EvidenceIssuer(authority: authority)
    }

    /// A transaction in its present state, as a compact JWS.
    package func signedTransaction(_ transactionID: String, in store: AppStore) throws -> String {
        try issuer.signed(template(try store.transaction(transactionID), in: store))
    }

    /// The renewal info of a subscription in its present state, as a compact JWS.
    package func signedRenewalInfo(of originalTransactionID: String, in store: AppStore) throws -> String {
        let subscription = try store.subscription(originalTransactionID)
        let transaction = try store.transaction(subscription.transactionID)
        return try issuer.signed(
            RenewalInfoTemplate(
                subscription, transaction: try template(transaction, in: store), currency: transaction.currency,
                signedDate: store.signingTime, invitations: transaction.seats?.invitations))
    }

    /// The notification of an event, signed at the time of the event, as a compact JWS; nil if a server gets none.
    package func notification(of event: StoreEvent, in store: AppStore) throws -> String? {
        guard let template = try NotificationTemplate(event, in: store) else { return nil }
        return try issuer.signed(template)
    }

    /// The receipt on a customer's device, in base64.
    package func appReceipt(of bundleID: String, for customerID: String, in store: AppStore) throws -> String {
        let receipt = try store.receipt(of: bundleID, for: customerID)
        let issued = try issuer.appReceipt(
            receipt, transactions: receipt.transactions, in: store, creationDate: receipt.creationDate)
        return Data(issued.bytes).base64EncodedString()
    }

    /// The transaction receipt of a transaction, in base64.
    package func transactionReceipt(_ transactionID: String, in store: AppStore) throws -> String {
        let issued = try issuer.transactionReceipt(
            try store.transaction(transactionID), in: store, version: .four)
        return Data(issued.bytes).base64EncodedString()
    }

    private func template(_ transaction: StoreTransaction, in store: AppStore) throws -> SignedTransactionTemplate {
        SignedTransactionTemplate(
            transaction, app: try store.app(transaction.bundleID), customer: try store.customer(transaction.customerID),
            product: try store.product(transaction.productID, of: transaction.bundleID), signedDate: store.signingTime,
            isForDevice: true)
    }
}
