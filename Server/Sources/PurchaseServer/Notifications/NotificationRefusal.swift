import HTTPTypes
import PurchaseVerification

extension Problem {
    /// The answer to a notification that does not verify.
    ///
    /// The App Store delivers a notification again after 503. So 503 answers everything that may be genuine: an unknown
    /// authority or algorithm, a header or a critical part that this version does not know, and claims of a new form.
    /// 400 answers what is malformed or provably forged.
    init(notification error: VerificationError) {
        let isFinal = error.code.refusesNotificationForGood
        self.init(
            isFinal ? .badRequest : .serviceUnavailable, error.code.rawValue, error.code.sentence,
            expected: error.expected, found: error.found, retryAfter: isFinal ? nil : Self.notificationRetrySeconds)
    }

    /// The seconds after which a refused notification may come again. The App Store keeps to a schedule of its own,
    /// which begins with an hour.
    static let notificationRetrySeconds = 3600

    /// A notification of version 1 came to the address for version 2.
    static let notificationOfVersion1 = Problem(
        .badRequest, "notification_version_1",
        """
        This is a notification of version 1, which nothing signs. In App Store Connect, below App Information, App Store \
        Server Notifications, choose version 2 for this URL.
        """, expected: "signedPayload", found: "notification_type")

    /// No app has the bundle id of a notification, or the path names another app.
    static func notificationOfNoApp(_ bundleID: String?) -> Problem {
        Problem(
            .notFound, "app_unknown", "No app of the settings accepts this notification.",
            expected: "the bundle id, Apple id and environment of an app of the settings", found: bundleID)
    }
}
