import Crypto
import EvidenceMint
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

    static func digest(of bytes: [UInt8]) -> String {
        SHA256.hash(data: bytes).map { byte in
            let digits = String(byte, radix: 16)
            return byte < 16 ? "0\(digits)" : digits
        }.joined()
    }
}
