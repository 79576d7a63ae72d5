import PurchaseVerification

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
