public import PurchaseVerification

/// The messages that a webhook gets.
public enum WebhookStream: Sendable, Hashable {
    /// The events of the app.
    case events
    /// The notifications of the app in an environment, with the bodies that the App Store sent (`forward:` in the
    /// settings).
    case notifications(AppStoreEnvironment)
}
