/// Whether the App Store is asked about the receipts of claims (docs/ask-apple.md, "How the server uses it").
public enum AppStoreMode: String, Sendable, CaseIterable {
    /// It is not asked.
    case offline
    /// A purchase without an owner is granted after the App Store's answer.
    case apple
    /// A purchase is granted at once, and the App Store is asked in the background.
    case both
}
