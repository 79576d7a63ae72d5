public import EvidenceMint
public import Foundation

/// The version of a minted transaction receipt. The core has a type of the same name.
public typealias MintedVersion = TransactionReceiptVersion

/// Evidence of the other kinds, at the same time and below the same authority.
extension MintedWorld {
    /// The whole store: the shared authority signs its app receipts.
    public static func store() throws -> AppStoreAuthority { try sharedStore.get() }

    /// All certificates that a verifier must trust: both roots, and the issuers of leaves that are sent alone.
    public static func trustedCertificates() throws -> [[UInt8]] {
        let store = try store()
        return [
            store.receipts.root, store.signedPayload.root, store.receipts.intermediate,
            store.transactionReceipts.storeIntermediate,
        ].map(\.certificate)
    }

    /// The device that everything is made for.
    public static let device = UUID(uuid: (0, 1, 2, 3, 4, 5, 0x46, 7, 0x88, 9, 10, 11, 12, 13, 14, 15))

    /// The subscription of `purchases()`.
    public static func subscription() -> PurchaseTemplate { purchases()[2] }

    /// A transaction receipt of the subscription. In production its transaction id also has the form of production.
    public static func transactionReceipt(environment: String = "Sandbox") -> TransactionReceiptTemplate {
        var purchase = subscription()
        if environment == "Production" { purchase.transactionID = "430000000000004" }
        return TransactionReceiptTemplate(
            purchase: purchase, bundleID: "com.example.app", bundleVersion: "7", environment: environment,
            vendorIdentifier: device)
    }

    /// A transaction receipt without an encoding.
    public static func mint(
        _ template: TransactionReceiptTemplate, _ version: MintedVersion, fault: TransactionReceiptFault? = nil
    ) throws -> [UInt8] {
        try TransactionReceiptEncoder(authority: try store()).encode(template, version: version, fault: fault)
    }

    /// A signed transaction of the subscription.
    public static func transaction(environment: String = "Sandbox") -> SignedTransactionTemplate {
        SignedTransactionTemplate(
            purchase: subscription(), bundleID: "com.example.app", environment: environment, deviceID: device)
    }

    /// The renewal info that belongs to it.
    public static func renewalInfo(environment: String = "Sandbox") -> RenewalInfoTemplate {
        RenewalInfoTemplate(transaction: transaction(environment: environment))
    }

    /// An app transaction.
    public static func appTransaction(environment: String = "Sandbox") -> AppTransactionTemplate {
        AppTransactionTemplate(
            bundleID: "com.example.app", creationDate: moment, environment: environment, applicationVersion: "7",
            deviceID: device)
    }

    /// A notification with a transaction and renewal info in it.
    public static func notification(environment: String = "Sandbox") -> NotificationTemplate {
        NotificationTemplate(
            notificationType: "DID_RENEW", transaction: transaction(environment: environment),
            renewalInfo: renewalInfo(environment: environment), bundleVersion: "7")
    }

    /// A notification without nested data.
    public static func testNotification(environment: String = "Sandbox") -> NotificationTemplate {
        .test(bundleID: "com.example.app", environment: environment, signedDate: moment)
    }

    /// Signed data of each kind.
    public static func signedPayload() -> [any SignedPayloadTemplate] {
        [transaction(), renewalInfo(), appTransaction(), testNotification(), notification()]
    }

    /// Signed data, as a compact JWS.
    public static func mint(_ template: any SignedPayloadTemplate, fault: SignedPayloadFault? = nil) throws -> [UInt8] {
        Array(try SignedPayloadEncoder(authority: try store()).encode(template, fault: fault).utf8)
    }

    private static let sharedStore = Result {
        let receipts = try authority()
        return AppStoreAuthority(
            receipts: receipts, transactionReceipts: try TransactionReceiptAuthority(below: receipts),
            signedPayload: try SignedPayloadAuthority())
    }
}
