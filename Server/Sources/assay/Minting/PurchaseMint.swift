import EvidenceMint
import Foundation

/// The forms of one purchase that `assay mint` makes, except the app receipt.
struct PurchaseMint {
    let purchase: PurchaseTemplate
    let bundleID: String
    let appVersion: String
    let environment: String
    let created: Date
    let deviceID: UUID?
    var notificationType: String?
    var subtype: String?

    /// The property list.
    func transactionReceipt(
        _ version: TransactionReceiptVersion, fault: TransactionReceiptFault?, authority: AppStoreAuthority
    ) throws -> [UInt8] {
        let template = TransactionReceiptTemplate(
            purchase: purchase, bundleID: bundleID, bundleVersion: appVersion, environment: environment,
            vendorIdentifier: deviceID)
        return try TransactionReceiptEncoder(authority: authority).encode(template, version: version, fault: fault)
    }

    /// The compact JWS of the store.
    func signedPayload(_ kind: MintKind, fault: SignedPayloadFault?, authority: AppStoreAuthority) throws -> String {
        let encoder = SignedPayloadEncoder(authority: authority)
        switch kind {
        case .renewalInfo: return try encoder.encode(renewalInfo, fault: fault)
        case .appTransaction: return try encoder.encode(appTransaction, fault: fault)
        case .notification: return try encoder.encode(notification, fault: fault)
        default: return try encoder.encode(transaction, fault: fault)
        }
    }

    /// The compact JWS of Xcode.
    func signedPayload(_ kind: MintKind, signer: XcodeSigner) throws -> String {
        switch kind {
        case .renewalInfo: try signer.encode(renewalInfo.asXcodeWritesIt)
        case .appTransaction: try signer.encode(appTransaction.asXcodeWritesIt)
        default: try signer.encode(transaction.asXcodeWritesIt)
        }
    }

    private var transaction: SignedTransactionTemplate {
        SignedTransactionTemplate(
            purchase: purchase, bundleID: bundleID, environment: environment, signedDate: created, deviceID: deviceID)
    }

    private var renewalInfo: RenewalInfoTemplate {
        RenewalInfoTemplate(transaction: transaction)
    }

    private var appTransaction: AppTransactionTemplate {
        AppTransactionTemplate(
            bundleID: bundleID, creationDate: created, environment: environment, applicationVersion: appVersion,
            deviceID: deviceID)
    }

    private var notification: NotificationTemplate {
        let isSubscription = purchase.productType == .autoRenewableSubscription
        return NotificationTemplate(
            notificationType: notificationType ?? (isSubscription ? "SUBSCRIBED" : "ONE_TIME_CHARGE"),
            subtype: subtype ?? (isSubscription && notificationType == nil ? "INITIAL_BUY" : nil),
            transaction: transaction,
            renewalInfo: isSubscription ? renewalInfo : nil,
            bundleVersion: appVersion)
    }
}
