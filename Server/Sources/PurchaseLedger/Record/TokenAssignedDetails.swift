import PurchaseVerification

/// `token_assigned`.
struct TokenAssignedDetails: JournalDetails {
    static var kind: JournalKind { .tokenAssigned }
    var customer: String
    var token: String
}
