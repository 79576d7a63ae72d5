import PurchaseVerification

import struct Foundation.UUID

/// `customer_erased`: the erased data, and the part that still affects purchases. It contains no outside names.
struct CustomerErasedDetails: JournalDetails {
    static var kind: JournalKind { .customerErased }
    var reason: String
    /// The random references of the customer, and of those who had been merged into them.
    var customers: [String]
    /// The purchases, which stay claimed.
    var transactions: [Transaction]
    /// Orders of other customers that one of the transactions had paid.
    var payments: [Payment]
    /// Orders of the customer that transactions of others had paid.
    var paidByOthers: [Payment]
    /// The entries whose details were deleted.
    var entries: [Entry]
    /// The SHA-256 of each piece of evidence whose bytes were deleted, in hexadecimal.
    var evidence: [String]

    struct Transaction: Codable, Sendable, Equatable {
        var environment: String
        var transactionID: String
        var second: Int64?
        var originalID: String
        var originalSecond: Int64?
        var kind: String?
        var isShared: Bool
        var purchasedAt: Int64?
        /// The account token, replaced by a reference.
        var token: String?
    }

    struct Payment: Codable, Sendable, Equatable {
        var order: String
        var environment: String
        var transactionID: String
        var second: Int64?
        var status: String
        var paidAt: Int64?
    }

    struct Entry: Codable, Sendable, Equatable {
        var id: String
        /// The details without names, if they affect other customers' purchases.
        var kept: String?
    }
}

extension CustomerErasedDetails.Payment {
    var key: TransactionKey {
        TransactionKey(
            environment: AppStoreEnvironment(environment), transactionID: ExactText(transactionID), second: second ?? 0)
    }
}

extension CustomerErasedDetails.Transaction {
    var key: TransactionKey {
        TransactionKey(
            environment: AppStoreEnvironment(environment), transactionID: ExactText(transactionID), second: second ?? 0)
    }

    /// The rest of the facts: enough to determine the owners of the other transactions of the original.
    var facts: ObservedTransaction {
        var statement = TransactionStatement(key: key, source: .signedData, stamp: .epoch)
        statement.originalTransactionID = ExactText(originalID)
        statement.originalPurchaseDate = originalSecond.map { Timestamp(millisecondsSince1970: $0 * 1000) }
        statement.purchaseDate = purchasedAt.map { Timestamp(millisecondsSince1970: $0) }
        statement.kind = kind.flatMap(ProductKind.init(rawValue:))
        statement.ownershipType = isShared ? "FAMILY_SHARED" : nil
        statement.accountToken = token.flatMap { AppAccountToken($0) }
        return ObservedTransaction(statement)
    }
}

/// `revocation_added`.
struct RevocationAddedDetails: JournalDetails {
    static var kind: JournalKind { .revocationAdded }
    var revocationID: String
    var customer: String
    var environment: String?
    var transactionID: String?
    var second: Int64?
    var grantID: String?
    var reason: String
}

/// Units taken from one lot, which is identified by outside names: numbers of the database may change in a rebuild.
struct LotTake: Codable, Sendable, Equatable {
    var environment: String
    var originalID: String?
    var second: Int64?
    /// The manual grant that gave the lot.
    var grantID: String?
    var units: Int64
}
