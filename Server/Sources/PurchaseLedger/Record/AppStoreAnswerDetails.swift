import PurchaseVerification

/// `app_store_answer`: the App Store's answer about a claim, or that it gave none in time. The entry's evidence is the
/// reply as it was received.
struct AppStoreAnswerDetails: JournalDetails {
    static var kind: JournalKind { .appStoreAnswer }
    /// The id of the claim's entry.
    var claim: String
    var environment: String?
    var status: Int64?
    var expected: String?
    var found: String?
    var isContradiction: Bool
    /// The cancellations that count. For a claim that waited, they are in its decision.
    var cancellations: [AppStoreAnswer.Cancellation]
}
