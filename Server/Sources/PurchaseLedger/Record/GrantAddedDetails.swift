import PurchaseVerification

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
