import PurchaseVerification

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
