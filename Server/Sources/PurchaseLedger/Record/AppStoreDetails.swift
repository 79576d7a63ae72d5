import PurchaseVerification

/// `app_store_answer`: the App Store's answer about a claim, or that it gave none in time. The entry's evidence is the
/// reply as it was received.
struct AppStoreAnswerDetails: JournalDetails {
    static var kind: JournalKind { .appStoreAnswer }
    /// The id of the claim's entry.
    var claim: String
    var environment: String?
    var status: Int64?
    var expected: String?
    var found: String?
    var isContradiction: Bool
    /// The cancellations that count. For a claim that waited, they are in its decision.
    var cancellations: [AppStoreAnswer.Cancellation]
}

/// `notification`: the first delivery of a server notification.
///
/// An erasure keeps what identifies the notification, so that a repeated delivery stays a repetition.
struct NotificationDetails: JournalDetails {
    static var kind: JournalKind { .notification }
    var notificationID: String
    var environment: String?
    var type: String?
    var subtype: String?
    /// In milliseconds since 1970.
    var signedAt: Int64?
    var content: String
    var status: Int64?
    var refundReason: String?
    var originalTransactionID: String?
    var transactionID: String?
    var appTransactionID: String?
    /// The seats whose claims end; `nil` if there are none. They name no customer.
    var unclaimedSeats: [String]?
    /// The entry of the notification that asked the same about a refund before.
    var repeats: String?
    /// The external purchase token that it is about. It names no customer.
    var externalPurchase: ExternalPurchase?

    init(_ facts: NotificationFacts) {
        notificationID = facts.id.string
        environment = facts.environment?.name
        type = facts.type?.string
        subtype = facts.subtype?.string
        signedAt = facts.signedAt?.millisecondsSince1970
        content = facts.content.rawValue
        status = facts.status
        refundReason = facts.refundReason?.string
        originalTransactionID = facts.originalTransactionID?.string
        transactionID = facts.transactionID?.string
        appTransactionID = facts.appTransactionID?.string
        unclaimedSeats = facts.unclaimedSeats.isEmpty ? nil : facts.unclaimedSeats.map(\.string)
        externalPurchase = facts.externalPurchase
    }

    /// The usual name of the type.
    var usualType: String? { type.map { NotificationType(rawValue: $0).canonical.rawValue } }
}
