import Crypto
package import EvidenceMint
import Foundation

/// Signs the store's evidence. It remembers nothing; the caller gets everything that must be remembered together with
/// the bytes.
struct EvidenceIssuer: Sendable {
    let authority: AppStoreAuthority
    private let receipts: AppReceiptEncoder
    private let transactionReceipts: TransactionReceiptEncoder
    private let signedPayload: SignedPayloadEncoder

    init(authority: AppStoreAuthority) {
        self.authority = authority
        receipts = AppReceiptEncoder(authority: authority.receipts)
        transactionReceipts = TransactionReceiptEncoder(authority: authority)
        signedPayload = SignedPayloadEncoder(authority: authority)
    }

    /// An app receipt.
    /// - Parameters:
    ///   - transactions: the purchases in the receipt, in any order.
    ///   - sentDate: the creation date of the receipt that this one answers, if there is one.
    ///   - fault: a `StoreFault` or a `ReceiptFault`.
    func appReceipt(
        _ receipt: StoreReceipt, transactions: [StoreTransaction], in store: AppStore, creationDate: Date,
        sentDate: Date? = nil, fault: String? = nil
    ) throws -> (bytes: [UInt8], record: IssuedEvidence) {
        let app = try store.app(receipt.bundleID)
        let customer = try store.customer(receipt.customerID)
        let product = { (transaction: StoreTransaction) -> StoreProduct? in
            // If the product is unknown, its evidence uses the fields of the transaction.
            try? store.product(transaction.productID, of: transaction.bundleID)
        }
        let ordered = StoreTransaction.inReceiptOrder(transactions, products: product)
        var template = AppReceiptTemplate(
            receipt, transactions: ordered, app: app, customer: customer, products: product,
            creationDate: creationDate, sentDate: sentDate ?? creationDate)
        if let storeFault = fault.flatMap(StoreFault.init(rawValue:)) { storeFault.alter(&template) }
        let bytes = try receipts.encode(template, fault: fault.flatMap(ReceiptFault.init(rawValue:)))
        return (
            bytes,
            IssuedEvidence(
                digest: IssuedEvidence.digest(of: bytes), kind: .appReceipt, bundleID: receipt.bundleID,
                customerID: receipt.customerID, environment: customer.environment, creationDate: creationDate,
                fault: fault, transactions: ordered, applicationVersion: receipt.applicationVersion,
                originalPurchaseDate: receipt.originalPurchaseDate)
        )
    }

    /// A transaction receipt.
    /// - Parameter fault: a `TransactionReceiptFault`.
    func transactionReceipt(
        _ transaction: StoreTransaction, in store: AppStore, version: TransactionReceiptVersion, fault: String? = nil
    ) throws -> (bytes: [UInt8], record: IssuedEvidence) {
        let app = try store.app(transaction.bundleID)
        let customer = try store.customer(transaction.customerID)
        let template = TransactionReceiptTemplate(
            transaction, app: app, customer: customer,
            product: try store.product(transaction.productID, of: transaction.bundleID))
        let bytes = try transactionReceipts.encode(
            template, version: version, fault: fault.flatMap(TransactionReceiptFault.init(rawValue:)))
        return (
            bytes,
            IssuedEvidence(
                digest: IssuedEvidence.digest(of: bytes), kind: .transactionReceipt, bundleID: app.bundleID,
                customerID: customer.customerID, environment: customer.environment, creationDate: store.now,
                fault: fault, transactions: [transaction], applicationVersion: app.version,
                originalPurchaseDate: transaction.originalPurchaseDate)
        )
    }

    /// Signed data of any kind.
    /// - Parameter fault: a `SignedPayloadFault`.
    func signed(_ template: some SignedPayloadTemplate, fault: String? = nil) throws -> String {
        try signedPayload.encode(template, fault: fault.flatMap(SignedPayloadFault.init(rawValue:)))
    }
}

extension StoreFault {
    /// Applies a fault to the content of a receipt before it is signed.
    func alter(_ template: inout AppReceiptTemplate) {
        switch self {
        case .wrongBundleID: template.bundleID = "com.example.another-app"
        case .otherDevice: template.deviceHash = .forDevice(UUID(derivedFrom: "another device").bytes)
        case .emptyInApp: template.purchases = []
        case .replayedTransactionID:
            let newest = template.purchases.max {
                ($0.purchaseDate ?? .distantPast) < ($1.purchaseDate ?? .distantPast)
            }
            if let transactionID = newest?.transactionID {
                template.purchases.removeAll { $0.transactionID == transactionID }
            }
        case .otherUsersReceipt:
            template.deviceHash = .forDevice(UUID(derivedFrom: "another customer's device").bytes)
            template.purchases = template.purchases.enumerated().map { index, purchase in
                var purchase = purchase
                purchase.transactionID = "\(900_000_000_000_001 + index)"
                purchase.originalTransactionID = purchase.transactionID
                return purchase
            }
        case .cannedReceipt:
            template.bundleID = "com.example.canned-game"
            template.deviceHash = .forDevice(UUID(derivedFrom: "the device of 2012").bytes)
            template.purchases = [
                .consumable(
                    productID: "superpower1", transactionID: "170000029449420",
                    purchaseDate: Date(timeIntervalSince1970: 1_342_094_400))
            ]
        }
    }
}

/// The store's record of evidence that it issued. `verifyReceipt` answers only from this record, never from the content
/// of a request.
struct IssuedEvidence: Codable, Equatable, Sendable {
    /// The SHA-256 of its bytes, in hexadecimal digits.
    let digest: String
    let kind: Kind
    let bundleID: String
    let customerID: String
    let environment: StoreEnvironment
    /// When it was signed.
    let creationDate: Date
    /// The fault in it; nil if it is genuine.
    let fault: String?
    /// The transactions in it, as they were then and in its order.
    var transactions: [StoreTransaction]
    /// The fields of an app receipt outside of its purchases.
    let applicationVersion: String
    let originalPurchaseDate: Date

    enum Kind: String, Codable, Sendable {
        case appReceipt = "app_receipt"
        case transactionReceipt = "transaction_receipt"
    }

    /// A receipt of the same app and customer.
    func receipt(_ transactions: [StoreTransaction], at creationDate: Date) -> StoreReceipt {
        StoreReceipt(
            bundleID: bundleID, customerID: customerID, creationDate: creationDate,
            applicationVersion: applicationVersion, originalPurchaseDate: originalPurchaseDate,
            transactions: transactions)
    }

    static func digest(of bytes: [UInt8]) -> String {
        SHA256.hash(data: bytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// Signs the store's state, without faults and without remembering the result: evidence for tests of other modules.
package struct StoreEvidence: Sendable {
    private let issuer: EvidenceIssuer

    /// Evidence below an authority.
    package init(authority: AppStoreAuthority) {
        issuer = EvidenceIssuer(authority: authority)
    }

    /// A transaction in its present state, as a compact JWS.
    package func signedTransaction(_ transactionID: String, in store: AppStore) throws -> String {
        try issuer.signed(
            SignedTransactionTemplate(try store.transaction(transactionID), in: store, isForDevice: true))
    }

    /// The renewal info of a subscription in its present state, as a compact JWS.
    package func signedRenewalInfo(of originalTransactionID: String, in store: AppStore) throws -> String {
        try issuer.signed(
            RenewalInfoTemplate(try store.subscription(originalTransactionID), in: store, isForDevice: true))
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
