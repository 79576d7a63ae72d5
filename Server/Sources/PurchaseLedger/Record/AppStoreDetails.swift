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

/// `consumption_answered`: what Apple was told about the use of a purchase, or why it was told nothing.
struct ConsumptionAnsweredDetails: JournalDetails {
    static var kind: JournalKind { .consumptionAnswered }
    /// The notification that asked (Apple, "notificationUUID").
    var notificationID: String
    var environment: String
    /// Empty after an erasure, like everything that says how the purchase was used.
    var transactionID: String
    /// What Apple took; `nil` if nothing was sent.
    var answer: ConsumptionAnswer?
    /// Why nothing was sent.
    var refusal: String?
    /// Apple's number, if it refused the answer.
    var number: Int64?
    /// From what the answer was made; other policies are compared with it.
    var situation: ConsumptionSituation?
    /// Whether Apple took an answer.
    var isSent: Bool

    /// The details without what concerns a customer.
    var ofNobody: ConsumptionAnsweredDetails {
        var details = self
        (details.transactionID, details.answer, details.situation, details.refusal) = ("", nil, nil, nil)
        return details
    }
}

/// `extension_answered`: Apple's answer to a request for an extension.
struct ExtensionAnsweredDetails: JournalDetails {
    static var kind: JournalKind { .extensionAnswered }
    var requestID: String
    /// `ExtensionState`.
    var state: String
    /// The new end of the period, in milliseconds since 1970. Apple does not sign it, so it is no fact.
    var effectiveDate: Int64?
    /// Apple's number, if it refused.
    var number: Int64?
}

/// `extension_requested`.
struct ExtensionRequestedDetails: JournalDetails {
    static var kind: JournalKind { .extensionRequested }
    var requestID: String
    var environment: String
    var originalID: String
    var originalSecond: Int64?
    var days: Int64
    var extensionReason: String
    /// The operator's reason.
    var reason: String

    var original: OriginalKey {
        OriginalKey(
            environment: AppStoreEnvironment(environment), transactionID: ExactText(originalID),
            second: originalSecond ?? 0)
    }
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
