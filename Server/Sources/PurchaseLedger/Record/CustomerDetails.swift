import PurchaseVerification

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

/// `customer_merged`.
struct CustomerMergedDetails: JournalDetails {
    static var kind: JournalKind { .customerMerged }
    /// The random reference of the customer who was merged.
    var from: String
    var into: String
    var reason: String?
}

/// `token_assigned`.
struct TokenAssignedDetails: JournalDetails {
    static var kind: JournalKind { .tokenAssigned }
    var customer: String
    var token: String
}

/// `token_set_at_apple`: the App Store accepted an account token for a purchase. It changes nothing here; the signed
/// data that follows states the token.
struct TokenSetAtAppleDetails: JournalDetails {
    static var kind: JournalKind { .tokenSetAtApple }
    /// The customer of the token.
    var customer: String
    var environment: String
    var originalTransactionID: String
    var token: String
}

/// `purchase_moved`.
struct PurchaseMovedDetails: JournalDetails {
    static var kind: JournalKind { .purchaseMoved }
    var environment: String
    var transactionID: String
    var second: Int64?
    /// The random reference of the former owner: the entry belongs to the new owner, and is kept when the former one is
    /// erased.
    var from: String?
    var to: String
    var reason: String
}

/// `grant_added`.
struct GrantAddedDetails: JournalDetails {
    static var kind: JournalKind { .grantAdded }
    var grantID: String
    var customer: String
    var productID: String
    var environment: String
    var kind: String
    var quantity: Int64
    var startsAt: Int64
    var endsAt: Int64?
    var reason: String
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

/// `act_lifted`.
struct ActLiftedDetails: JournalDetails {
    static var kind: JournalKind { .actLifted }
    var id: String
    var reason: String?
}

/// `ground_added`: a product that another shop gives. The same id again changes the end.
struct GroundAddedDetails: JournalDetails {
    static var kind: JournalKind { .groundAdded }
    var groundID: String
    var customer: String
    var source: String
    var reference: String
    var productID: String
    var environment: String
    var kind: String
    var startsAt: Int64
    var endsAt: Int64?
}

/// `ground_ended`.
struct GroundEndedDetails: JournalDetails {
    static var kind: JournalKind { .groundEnded }
    var groundID: String
}

/// `seat_claimed`.
struct SeatClaimedDetails: JournalDetails {
    static var kind: JournalKind { .seatClaimed }
    /// Empty after an erasure, which keeps the id: it never lives again.
    var customer: String
    var seatID: String
    var requestID: String
    var appTransactionID: String?
    var environment: String
    var originalID: String
    var originalSecond: Int64?

    var original: OriginalKey {
        OriginalKey(
            environment: AppStoreEnvironment(environment), transactionID: ExactText(originalID),
            second: originalSecond ?? 0)
    }

    /// The details without what concerns a customer.
    var ofNobody: SeatClaimedDetails {
        var details = self
        (details.customer, details.requestID, details.appTransactionID) = ("", "", nil)
        return details
    }
}

/// `seat_unclaimed`, by the backend. The App Store's `UNCLAIM_SEATS` is a notification.
struct SeatUnclaimedDetails: JournalDetails {
    static var kind: JournalKind { .seatUnclaimed }
    var seatID: String
    var environment: String
    var originalID: String
    var originalSecond: Int64?
}

/// `consumed`.
struct ConsumedDetails: JournalDetails {
    static var kind: JournalKind { .consumed }
    var customer: String
    var consumptionID: String
    var productID: String
    var environment: String
    var quantity: Int64
    var takes: [LotTake]
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

/// `consumption_consent`.
struct ConsumptionConsentDetails: JournalDetails {
    static var kind: JournalKind { .consumptionConsent }
    var customer: String
    var isGiven: Bool
}
