import PurchaseVerification

/// `ground_ended`.
struct GroundEndedDetails: JournalDetails {
    static var kind: JournalKind { .groundEnded }
    var groundID: String
}
