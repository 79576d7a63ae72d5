import PurchaseVerification

/// `decision`: the outcome of a claim that waited for the App Store.
struct DecisionDetails: JournalDetails {
    static var kind: JournalKind { .decision }
    /// The id of the claim's entry.
    var claim: String
    /// The cancellations that the App Store stated.
    var cancellations: [AppStoreAnswer.Cancellation]
    /// The account tokens that the App Store stated.
    var tokens: [AppStoreAnswer.StatedToken]
    var decided: ClaimDetails
}
