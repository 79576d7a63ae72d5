public import PurchaseVerification

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
