import AppStoreSimulator
import Foundation

/// What the tests share. Keys take long to make, so there is one authority for all of them.
enum World {
    static let creationDate = Date(timeIntervalSince1970: 1_720_000_000)  // 2024-07-03T09:46:40Z
    static let bundleID = "com.example.app"

    static func authority() throws -> SimulatorAuthority {
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

    private static let sharedAuthority = Result { try SimulatorAuthority() }
    private static let sharedXcodeSigner = Result { try XcodeSigner() }
}
