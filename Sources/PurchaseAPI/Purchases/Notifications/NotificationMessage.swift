/// A notification that the App Store sent.
public struct NotificationMessage: Codable, Sendable, Equatable {
    /// Apple's `notificationUUID`; absent after an erasure.
    public var notificationID: String?
    /// Apple's name of the type, also of one that this version does not know.
    public var type: String?
    public var subtype: String?
    /// When Apple signed it.
    public var signedAt: String?
    /// When its first delivery was recorded.
    public var receivedAt: String
    public var environment: String?
    /// The part that holds its content: `data`, `summary`, `external_purchase_token`, `app_data`, `unclaim_info` or
    /// `unknown`.
    public var content: String?
    /// The status of the subscription when it was signed, from 1 to 5.
    public var status: Int64?
    /// Why the customer asks for a refund.
    public var refundReason: String?
    public var originalTransactionID: String?
    public var transactionID: String?
    /// The owner of the purchase.
    public var customerID: String?
    /// SHA-256 of its bytes, in hexadecimal; absent after an erasure.
    public var evidenceSHA256: String?
    /// The journal entry of its first delivery.
    public var entryID: String

    public init(receivedAt: String, entryID: String) { (self.receivedAt, self.entryID) = (receivedAt, entryID) }

    enum CodingKeys: String, CodingKey {
        case type, subtype, environment, content, status
        case notificationID = "notification_id"
        case signedAt = "signed_at"
        case receivedAt = "received_at"
        case refundReason = "refund_reason"
        case originalTransactionID = "original_transaction_id"
        case transactionID = "transaction_id"
        case customerID = "customer_id"
        case evidenceSHA256 = "evidence_sha256"
        case entryID = "entry_id"
    }
}

/// `GET /v1/notifications`: a page of notifications, the newest first.
public struct NotificationPage: Codable, Sendable, Equatable {
    public var notifications: [NotificationMessage]
    /// The parameter `cursor` of the next request; absent on the last page.
    public var nextCursor: String?

    public init(notifications: [NotificationMessage], nextCursor: String? = nil) {
        (self.notifications, self.nextCursor) = (notifications, nextCursor)
    }

    enum CodingKeys: String, CodingKey {
        case notifications
        case nextCursor = "next_cursor"
    }
}

/// `POST /notifications/v2`: a notification as the App Store sends it (Apple, "responseBodyV2").
public struct NotificationRequest: Codable, Sendable, Equatable {
    /// The signed notification, a compact JWS.
    public var signedPayload: String
    /// Whether a body without it is a notification of version 1, which is not signed.
    public var isOfVersion1 = false

    public init(signedPayload: String) { self.signedPayload = signedPayload }

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

/// The answer to a notification, after it was committed. The App Store reads only the status.
public struct NotificationAnswer: Codable, Sendable, Equatable {
    /// The journal entry of the notification.
    public var entryID: String
    /// Whether it was received before.
    public var repeated: Bool

    public init(entryID: String, repeated: Bool) { (self.entryID, self.repeated) = (entryID, repeated) }

    enum CodingKeys: String, CodingKey {
        case repeated
        case entryID = "entry_id"
    }
}

/// The answer to an event of Stripe, after it was committed. Stripe reads only the status.
public struct StripeAnswer: Codable, Sendable, Equatable {
    public var eventID: String
    /// `recorded`, `repeated`, `superseded` by a newer state of its subscription, or `ignored`.
    public var result: String

    public init(eventID: String, result: String) { (self.eventID, self.result) = (eventID, result) }

    enum CodingKeys: String, CodingKey {
        case result
        case eventID = "event_id"
    }
}
