import PurchaseVerification

/// `act_lifted`.
struct ActLiftedDetails: JournalDetails {
    static var kind: JournalKind { .actLifted }
    var id: String
    var reason: String?
}
