/// What Apple knows about the order number in a customer's mail.
public enum AppleOrderAnswer: Sendable, Equatable {
    /// The transactions of the order, which are recorded now.
    case transactions([String])
    /// Apple knows no order of the app with this number.
    case unknown
    /// The app has no key of the App Store Server API.
    case notConfigured
    /// Apple gave no answer, with the code of the reason.
    case noAnswer(String)
}
