import PurchaseVerification

/// Evidence without a claim: a notification, an App Store answer, an import.
public struct EvidenceSubmission: Sendable {
    /// The app that it was sent for; `nil` if only the evidence names the app.
    public var app: String?
    /// The source of evidence that the App Store delivered to the server.
    public static let notification = "notification"

    /// The source, such as `notification`.
    public var source: String
    public var evidence: [UInt8]
    /// The API key that sent it, whose daily budget refused evidence uses.
    public var keyID: String?
    /// The body of a request that consists of more than the evidence in its usual form, to be forwarded unchanged.
    var body: [UInt8]?
    /// The error in the request that brought it.
    public var flaw: Rejection?

    /// Evidence and its source.
    public init(app: String?, source: String, evidence: [UInt8]) {
        self.app = app
        self.source = source
        self.evidence = evidence
    }

    /// A notification of the App Store's history, which is as it was sent.
    public init(sentNotification signedPayload: [UInt8]) {
        self.init(app: nil, source: Self.notification, evidence: signedPayload)
    }

    /// A notification of the App Store.
    ///
    /// - Parameters:
    ///   - signedPayload: the signed data in the request.
    ///   - body: the body of the request.
    public init(notification signedPayload: [UInt8], in body: [UInt8]) {
        self.init(app: nil, source: Self.notification, evidence: signedPayload)
        if body != NotificationBodiesTable.usualBody(of: signedPayload) { self.body = body }
    }
}
