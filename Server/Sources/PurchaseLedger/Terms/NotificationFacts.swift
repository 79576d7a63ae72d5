public import PurchaseVerification

/// The facts of a server notification itself. The signed data in it is observed like any evidence.
///
/// Text that is no identifier, such as a name of 200 kB, counts as not stated.
public struct NotificationFacts: Sendable, Equatable {
    /// The part of a notification that holds its content (Apple, "responseBodyV2DecodedPayload").
    public enum Content: String, Sendable, CaseIterable {
        case data
        case summary
        case externalPurchaseToken = "external_purchase_token"
        case appData = "app_data"
        case unclaimInfo = "unclaim_info"
        /// None that this version knows.
        case unknown
    }

    /// The same in each attempt to deliver it (Apple, "notificationUUID"). A notification without one is identified by
    /// the SHA-256 of its bytes, as `sha256:` and hexadecimal.
    public var id: ExactText
    /// Apple's name, unchanged, also of a type that this version does not know.
    public var type: ExactText?
    public var subtype: ExactText?
    /// When Apple signed the notification. The data in it has dates of its own.
    public var signedAt: Timestamp?
    public var environment: AppStoreEnvironment?
    /// The App Store's number of the app; absent in the sandbox.
    public var appAppleID: UInt64?
    public var content: Content
    /// The status of the subscription at that time, from 1 to 5 (Apple, "status").
    public var status: Int64?
    /// Why the customer asks for a refund (Apple, "consumptionRequestReason").
    public var refundReason: ExactText?
    /// The original transaction, if the notification is about one.
    public var originalTransactionID: ExactText?
    public var transactionID: ExactText?
    /// The download of the app that it is about (Apple, "appTransactionId").
    public var appTransactionID: ExactText?
    /// The seats whose claims end (Apple, "unclaimSeatIds"), each once.
    public var unclaimedSeats: [ExactText]
    /// The external purchase token that it is about (Apple, "externalPurchaseToken").
    public var externalPurchase: ExternalPurchase?
    /// Whether the notification states seats whose claims end, and not as a list of texts.
    let areSeatsMalformed: Bool

    /// - Parameters:
    ///   - notification: the verified notification.
    ///   - sha256: the hash of its bytes.
    init(_ notification: AppStoreNotification, sha256: [UInt8]) {
        id = ExactText(identifier: notification.notificationUUID) ?? ExactText("sha256:\(sha256.hexadecimal)")
        type = ExactText(identifier: notification.notificationType?.rawValue)
        subtype = ExactText(identifier: notification.subtype?.rawValue)
        signedAt = notification.signedDate
        environment = notification.environment
        appAppleID = notification.appAppleID
        status = notification.data?.status?.rawValue
        refundReason = ExactText(identifier: notification.data?.consumptionRequestReason?.rawValue)
        transactionID = ExactText(identifier: notification.transaction?.transactionID)
        appTransactionID = ExactText(identifier: notification.appTransaction?.appTransactionID)
        originalTransactionID =
            ExactText(identifier: notification.transaction?.originalTransactionID)
            ?? ExactText(identifier: notification.renewalInfo?.originalTransactionID)
        if let token = notification.externalPurchaseToken,
            let id = ExactText(identifier: token.externalPurchaseID)?.string
        {
            externalPurchase = ExternalPurchase(
                id: id, bundleID: ExactText(identifier: token.bundleID)?.string,
                tokenType: ExactText(identifier: token.tokenType)?.string,
                createdAt: token.tokenCreationDate?.millisecondsSince1970,
                expiresAt: token.tokenExpirationDate?.millisecondsSince1970)
        }
        let seats = notification.unclaimInfo
        areSeatsMalformed = seats?.unclaimSeatIDs == nil && seats?.otherClaims["unclaimSeatIds"] != nil
        var seen: Set<ExactText> = []
        unclaimedSeats = (notification.unclaimInfo?.unclaimSeatIDs ?? []).compactMap { ExactText(identifier: $0) }
            .filter { seen.insert($0).inserted }
        content =
            if notification.data != nil {
                .data
            } else if notification.summary != nil {
                .summary
            } else if notification.externalPurchaseToken != nil {
                .externalPurchaseToken
            } else if notification.appData != nil {
                .appData
            } else if notification.unclaimInfo != nil {
                .unclaimInfo
            } else {
                .unknown
            }
    }

    /// Whether it is of the app with an Apple id. In production the parts that Apple documents with the id state one;
    /// of the others, the bundle id names the app.
    ///
    /// - Parameter appleID: the id in the settings; `nil` if they have none.
    func isOf(_ appleID: UInt64?) -> Bool {
        guard let appleID, environment == .production else { return true }
        if appAppleID == nil, [.unclaimInfo, .unknown].contains(content) { return true }
        return appAppleID == appleID
    }
}
