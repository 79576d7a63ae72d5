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

    /// A notification by its required parts.
    public init(receivedAt: String, entryID: String) {
        self.receivedAt = receivedAt
        self.entryID = entryID
    }

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
