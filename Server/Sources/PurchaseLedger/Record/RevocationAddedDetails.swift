import PurchaseVerification

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
