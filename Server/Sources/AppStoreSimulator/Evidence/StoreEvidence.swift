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

/// A fault in an app receipt with a valid signature: the receipt is genuine, but does not prove this purchase.
///
/// The raw value is the name of the fault in the control API.
public enum StoreFault: String, CaseIterable, Sendable {
    /// The receipt is made out to another app.
    case wrongBundleID = "wrong-bundle-id"
    /// The receipt is made for another device.
    case otherDevice = "other-device"
    /// The receipt holds no purchase.
    case emptyInApp = "empty-in-app"
    /// The newest purchase is missing; the receipt holds only earlier purchases.
    case replayedTransactionID = "replayed-transaction-id"
    /// The receipt belongs to another customer.
    case otherUsersReceipt = "other-users-receipt"
    /// The receipt of one app and product that was sent by every app in 2012.
    case cannedReceipt = "canned-receipt"

    /// The fault, in one English sentence.
    public var explanation: String {
        switch self {
        case .wrongBundleID: "The receipt belongs to another app."
        case .otherDevice: "The receipt was made for another device."
        case .emptyInApp: "The receipt has no purchases."
        case .replayedTransactionID: "The receipt has older purchases, but not this one."
        case .otherUsersReceipt: "The receipt belongs to another customer."
        case .cannedReceipt: "A genuine receipt of another app and product, sent by every app."
        }
    }
}
