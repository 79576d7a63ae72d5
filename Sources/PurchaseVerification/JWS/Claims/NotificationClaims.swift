// The claims of a notification, and of the objects in them.

/// The claims of a server notification of version 2 (Apple, "responseBodyV2DecodedPayload"): its type, and exactly one
/// of data, summary, external purchase token, app data and unclaim info, or one object that this version does not know.
public final class NotificationClaims: SignedClaims {
    public let notificationType: NotificationType?
    public let subtype: NotificationSubtype?
    /// The same in each attempt to deliver the notification.
    public let notificationUUID: String?
    /// `2.0`.
    public let version: String?
    /// When Apple signed this; the validity of its certificates is checked at this time. Absent in some notifications
    /// of 2022; for these, the latest date of the signed payloads in them is used.
    public let signedDate: AppStoreTime?
    /// The app and the subscription or purchase that it is about.
    public let data: NotificationData?
    /// The outcome of an extension for many subscribers.
    public let summary: NotificationSummary?
    /// A token for a purchase outside of the App Store.
    public let externalPurchaseToken: ExternalPurchaseToken?
    /// The app transaction that it is about.
    public let appData: NotificationAppData?
    /// The seats whose access ends.
    public let unclaimInfo: NotificationUnclaimInfo?
    /// Every claim without a field here, unchanged; among them an object that this version does not know.
    public let otherClaims: [String: JSONValue]
    /// The app that an unknown object names.
    let unknownBody: UnknownNotificationBody

    init(_ reader: inout ClaimReader) throws(VerificationError) {
        notificationType = try reader.open("notificationType")
        subtype = try reader.open("subtype")
        notificationUUID = try reader.claim("notificationUUID")
        version = reader.description("version")
        signedDate = try reader.date("signedDate")
        data = try reader.object("data", NotificationData.init)
        summary = try reader.object("summary", NotificationSummary.init)
        externalPurchaseToken = try reader.object("externalPurchaseToken", ExternalPurchaseToken.init)
        appData = try reader.object("appData", NotificationAppData.init)
        unclaimInfo = try reader.object("unclaimInfo", NotificationUnclaimInfo.init)
        otherClaims = try reader.others()
        unknownBody = UnknownNotificationBody(otherClaims)
        let parts = [
            data != nil, summary != nil, externalPurchaseToken != nil, appData != nil, unclaimInfo != nil,
        ].count { $0 }
        guard parts <= 1 else {
            throw VerificationError(
                .claimsMalformed, expected: "one of data, summary, externalPurchaseToken, appData and unclaimInfo",
                found: "\(parts)")
        }
    }
}

/// Apple, "data".
public struct NotificationData: Sendable {
    public let appAppleID: UInt64?
    public let bundleID: String?
    public let bundleVersion: String?
    public let environment: String?
    /// A separate JWS, verified with the notification.
    public let signedTransactionInfo: String?
    /// A separate JWS, verified with the notification.
    public let signedRenewalInfo: String?
    public let status: AppStoreSubscriptionStatus?
    public let consumptionRequestReason: ConsumptionRequestReason?
    /// Every claim without a field here, unchanged.
    public let otherClaims: [String: JSONValue]

    init(_ reader: inout ClaimReader) throws(VerificationError) {
        appAppleID = try reader.claim("appAppleId")
        bundleID = try reader.claim("bundleId")
        bundleVersion = reader.description("bundleVersion")
        environment = try reader.claim("environment")
        signedTransactionInfo = try reader.claim("signedTransactionInfo")
        signedRenewalInfo = try reader.claim("signedRenewalInfo")
        status = try reader.open("status")
        consumptionRequestReason = reader.openDescription("consumptionRequestReason")
        otherClaims = try reader.others()
    }
}

/// Apple, "summary".
public struct NotificationSummary: Sendable {
    public let requestIdentifier: String?
    public let environment: String?
    public let appAppleID: UInt64?
    public let bundleID: String?
    public let productID: String?
    public let storefrontCountryCodes: [String]?
    public let failedCount: Int64?
    public let succeededCount: Int64?
    /// Every claim without a field here, unchanged.
    public let otherClaims: [String: JSONValue]

    init(_ reader: inout ClaimReader) throws(VerificationError) {
        requestIdentifier = reader.description("requestIdentifier")
        environment = try reader.claim("environment")
        appAppleID = try reader.claim("appAppleId")
        bundleID = try reader.claim("bundleId")
        productID = reader.description("productId")
        storefrontCountryCodes = reader.description("storefrontCountryCodes")
        failedCount = reader.description("failedCount")
        succeededCount = reader.description("succeededCount")
        otherClaims = try reader.others()
    }
}

/// Apple, "externalPurchaseToken".
public struct ExternalPurchaseToken: Sendable {
    /// Begins with `SANDBOX` if nobody paid.
    public let externalPurchaseID: String?
    /// When Apple made the token.
    public let tokenCreationDate: AppStoreTime?
    /// When the token expires; only for tokens since June 2025.
    public let tokenExpirationDate: AppStoreTime?
    /// The purpose of the token, such as `ACQUISITION` or `SERVICES`; only for tokens since June 2025.
    public let tokenType: String?
    public let appAppleID: UInt64?
    public let bundleID: String?
    /// Every claim without a field here, unchanged.
    public let otherClaims: [String: JSONValue]

    init(_ reader: inout ClaimReader) throws(VerificationError) {
        externalPurchaseID = try reader.claim("externalPurchaseId")
        tokenCreationDate = try reader.date("tokenCreationDate")
        tokenExpirationDate = try reader.date("tokenExpirationDate")
        tokenType = reader.description("tokenType")
        appAppleID = try reader.claim("appAppleId")
        bundleID = try reader.claim("bundleId")
        otherClaims = try reader.others()
    }

    /// Only the beginning of its identifier states an environment. Apple's library reads it in the same way.
    var environment: AppStoreEnvironment { isSandbox ? .sandbox : .production }

    private var isSandbox: Bool { externalPurchaseID?.utf8.starts(with: "SANDBOX".utf8) ?? false }
}

/// Apple, "appData".
public struct NotificationAppData: Sendable {
    public let appAppleID: UInt64?
    public let bundleID: String?
    public let environment: String?
    /// A separate JWS, verified with the notification.
    public let signedAppTransactionInfo: String?
    /// Every claim without a field here, unchanged.
    public let otherClaims: [String: JSONValue]

    init(_ reader: inout ClaimReader) throws(VerificationError) {
        appAppleID = try reader.claim("appAppleId")
        bundleID = try reader.claim("bundleId")
        environment = try reader.claim("environment")
        signedAppTransactionInfo = try reader.claim("signedAppTransactionInfo")
        otherClaims = try reader.others()
    }
}

/// The seats whose access ends (Apple, "unclaimInfo"), in a notification of the type `UNCLAIM_SEATS`.
public struct NotificationUnclaimInfo: Sendable {
    public let appAppleID: UInt64?
    public let bundleID: String?
    public let environment: String?
    /// The seats, by the identifiers under which the backend assigned them.
    public let unclaimSeatIDs: [String]?
    /// Every claim without a field here, unchanged.
    public let otherClaims: [String: JSONValue]

    init(_ reader: inout ClaimReader) throws(VerificationError) {
        appAppleID = try reader.claim("appAppleId")
        bundleID = try reader.claim("bundleId")
        environment = try reader.claim("environment")
        unclaimSeatIDs = reader.description("unclaimSeatIds")
        otherClaims = try reader.others()
    }
}

/// The app that an unknown object of a notification names. Every known one names it by the same claims; everything else
/// in it stays unread.
struct UnknownNotificationBody {
    let bundleID: String?
    let appAppleID: UInt64?
    let environment: String?

    /// - Parameter claims: the unread claims of a notification.
    init(_ claims: [String: JSONValue]) {
        let objects = claims.values.compactMap { value -> [String: JSONValue]? in
            if case .object(let members) = value { members } else { nil }
        }
        // Two objects that name different apps leave it open which one is meant.
        bundleID = Self.single(objects.compactMap { $0["bundleId"]?.text })
        environment = Self.single(objects.compactMap { $0["environment"]?.text })
        let numbers = Set(objects.compactMap { $0["appAppleId"]?.integer.flatMap { UInt64(exactly: $0) } })
        appAppleID = numbers.count == 1 ? numbers.first : nil
    }

    private static func single(_ texts: [String]) -> String? {
        guard let first = texts.first, texts.allSatisfy({ $0.isSame(as: first) }) else { return nil }
        return first
    }
}
