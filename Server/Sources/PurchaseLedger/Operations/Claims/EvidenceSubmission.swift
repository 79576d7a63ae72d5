import PurchaseVerification

/// Evidence without a claim: a notification, an App Store answer, an import.
public struct EvidenceSubmission: Sendable {
    /// The app that it was sent for; `nil` if only the evidence names the app.
    public var app: String?
    /// The source, such as `notification`.
    public var source: String
    public var evidence: [UInt8]
    /// The API key that sent it, whose daily budget refused evidence uses.
    public var keyID: String?
    /// The error in the request that brought it.
    public var flaw: Rejection?

    /// Evidence and its source.
    public init(app: String?, source: String, evidence: [UInt8]) {
        self.app = app
        self.source = source
        self.evidence = evidence
    }
}
