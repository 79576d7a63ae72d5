/// `POST /notifications/v2`: a notification as the App Store sends it (Apple, "responseBodyV2").
public struct NotificationRequest: Codable, Sendable, Equatable {
    /// The signed notification, a compact JWS.
    public var signedPayload: String

    /// A notification.
    public init(signedPayload: String) {
        self.signedPayload = signedPayload
    }

    enum CodingKeys: String, CodingKey {
        case signedPayload
    }
}

extension NotificationRequest: RequestMessage {
    /// Apple may add members.
    public static var ignoresUnknownMembers: Bool { true }

    public init(members: inout RequestMembers) {
        signedPayload = members.text(CodingKeys.signedPayload) ?? ""
        if signedPayload.isEmpty { members.miss(CodingKeys.signedPayload.rawValue) }
    }
}
