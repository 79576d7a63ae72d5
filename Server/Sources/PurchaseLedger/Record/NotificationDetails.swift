import PurchaseVerification

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
    }

    /// The usual name of the type.
    var usualType: String? { type.map { NotificationType(rawValue: $0).canonical.rawValue } }

    /// The details without what concerns a customer.
    var ofNoCustomer: NotificationDetails {
        var details = self
        (details.status, details.refundReason) = (nil, nil)
        (details.originalTransactionID, details.transactionID, details.appTransactionID) = (nil, nil, nil)
        return details
    }
}
