import EvidenceMint
import Foundation

/// Values that the tests share. Creating keys is slow, so one authority serves all tests.
enum World {
    static let creationDate = Date(timeIntervalSince1970: 1_720_000_000)  // 2024-07-03T09:46:40Z
    static let bundleID = "com.example.app"

    static func authority() throws -> CertificateAuthority {
        try sharedAuthority.get()
    }

    static func encoder() throws -> AppReceiptEncoder {
        AppReceiptEncoder(authority: try authority())
    }

    static func xcodeSigner() throws -> XcodeSigner {
        try sharedXcodeSigner.get()
    }

    static var receipt: AppReceiptTemplate {
        .sandbox(bundleID: bundleID, creationDate: creationDate, purchases: [coins, year])
    }

    static var coins: PurchaseTemplate {
        .consumable(
            productID: "coins", transactionID: "2000000000000001", purchaseDate: creationDate, quantity: 3
        )
    }

    static var year: PurchaseTemplate {
        .subscription(
            productID: "year",
            transactionID: "2000000000000003",
            originalTransactionID: "2000000000000002",
            purchaseDate: creationDate,
            expiresDate: creationDate.addingTimeInterval(3600)
        )
    }

    private static let sharedAuthority = Result { try CertificateAuthority() }
    private static let sharedXcodeSigner = Result { try XcodeSigner() }
}

/// The authority of a whole store.
extension World {
    static func store() throws -> AppStoreAuthority {
        try sharedStore.get()
    }

    static var transactionReceipt: TransactionReceiptTemplate {
        TransactionReceiptTemplate(purchase: coins, bundleID: bundleID, vendorIdentifier: device)
    }

    static var transaction: SignedTransactionTemplate {
        SignedTransactionTemplate(purchase: year, bundleID: bundleID, signedDate: creationDate, deviceID: device)
    }

    static var renewalInfo: RenewalInfoTemplate { RenewalInfoTemplate(transaction: transaction) }

    static var appTransaction: AppTransactionTemplate {
        AppTransactionTemplate(bundleID: bundleID, creationDate: creationDate, deviceID: device)
    }

    static var notification: NotificationTemplate {
        NotificationTemplate(
            notificationType: "SUBSCRIBED", subtype: "INITIAL_BUY", transaction: transaction, renewalInfo: renewalInfo)
    }

    /// One of each kind of signed data.
    static var signedPayload: [any SignedPayloadTemplate] { [transaction, renewalInfo, appTransaction, notification] }

    /// A fictitious device: 00010203-0405-0607-0809-0A0B0C0D0E0F.
    static let device = UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))

    private static let sharedStore = Result { try AppStoreAuthority() }
}
