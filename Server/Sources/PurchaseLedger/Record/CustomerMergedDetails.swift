import PurchaseVerification

/// `customer_merged`.
struct CustomerMergedDetails: JournalDetails {
    static var kind: JournalKind { .customerMerged }
    /// The random reference of the customer who was merged.
    var from: String
    var into: String
    var reason: String?
}
