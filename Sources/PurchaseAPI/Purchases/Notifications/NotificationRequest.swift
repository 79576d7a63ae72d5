/// `POST /notifications/v2`: a notification as the App Store sends it (Apple, "responseBodyV2").
public struct NotificationRequest: Codable, Sendable, Equatable {
    /// The signed notification, a compact JWS.
    public var signedPayload: String
    /// Whether a body without it is a notification of version 1, which is not signed.
    public var isOfVersion1 = false

    /// A notification.
    public init(signedPayload: String) {
        self.signedPayload = signedPayload
    }

    enum CodingKeys: String, CodingKey {
        case signedPayload
    }

    /// A member of every notification of version 1 (Apple, "responseBodyV1").
    private enum Version1Keys: String, CodingKey {
        case notificationType = "notification_type"
    }
}

extension NotificationRequest: RequestMessage {
    /// Apple may add members.
    public static var ignoresUnknownMembers: Bool { true }

    public init(members: inout RequestMembers) {
        signedPayload = members.text(CodingKeys.signedPayload) ?? ""
        guard signedPayload.isEmpty else { return }
        members.miss(CodingKeys.signedPayload.rawValue)
        isOfVersion1 = members.text(Version1Keys.notificationType) != nil
    }
}
