public import PurchaseVerification

/// An app on whose behalf the App Store Server API is called.
public struct AppStoreServerApp: Sendable {
    /// The key by which calls in progress are limited. It is not sent.
    public var name: String
    /// The app that the token names, and that every answer must be about.
    public var bundleID: String
    /// The keys, the preferred one first. After 401 the next is used, so a key can be replaced without an outage.
    public var keys: [AppStoreServerKey]
    /// Verifies what the App Store signed.
    public var verifier: PurchaseVerifier

    public init(
        _ name: String, bundleID: String, keys: [AppStoreServerKey], verifier: PurchaseVerifier = PurchaseVerifier()
    ) {
        self.name = name
        self.bundleID = bundleID
        self.keys = keys
        self.verifier = verifier
    }
}
