import PurchaseVerification

/// The purpose of the App Store's answer about a claim.
enum AppStoreQuestion: String, Codable, Sendable {
    /// The claim is decided after the answer.
    case waits
    /// The claim was granted already.
    case confirms
}
