public import PurchaseVerification

public import struct Foundation.UUID

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

/// Evidence without a claim, with the result of its verification.
public struct ExaminedEvidenceSubmission: Sendable {
    let submission: EvidenceSubmission
    let evidence: ExaminedEvidence
    /// The app that observes it; `nil` if no app has its bundle id or accepts its environment.
    public let observer: String?
    /// Whether the notification states the Apple id that the settings of that app have, if they have one.
    public let isOfAppleID: Bool

    /// Why it is not genuine; `nil` if it is.
    public var error: VerificationError? {
        if case .failure(let error) = evidence.verified { error } else { nil }
    }
    /// The kind, such as `signed_transaction`, if it could be recognised.
    public var kind: String? { evidence.kind?.rawValue }
    public var bundleID: String? { evidence.bundleID?.string }
    public var isNotification: Bool { evidence.notification != nil }
    /// Apple's name of the notification's type, also of one that this version does not know.
    public var notificationType: String? { evidence.notification?.type?.string }
    /// When Apple signed the notification.
    public var notificationSignedAt: Timestamp? { evidence.notification?.signedAt }
}

/// The result for evidence without a claim.
public struct ObservationOutcome: Sendable, Equatable {
    public var submissionID: UUID
    /// Whether it told nothing new beyond the daily budget. Then it is only counted, and there is no entry.
    public var isCounted = false
    /// Whether it is a notification that was received before. Then the entry is that of its first delivery, unless it
    /// was signed again.
    public var isRepeated = false
    /// `accepted`, or the core's code.
    public var code: String
    /// The app that observed it; `nil` if no app has its bundle id.
    public var app: String?
    /// The number of transactions that it states.
    public var transactions: Int
}
