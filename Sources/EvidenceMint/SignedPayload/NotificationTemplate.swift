public import Foundation

/// The content of a version 2 notification of the App Store server: `responseBodyV2DecodedPayload` in Apple's
/// documents.
///
/// A genuine notification has exactly one of `data`, `summary`, `externalPurchaseToken` and `appData`.
public struct NotificationTemplate: SignedPayloadTemplate, Hashable {
    /// `notificationType`, such as `DID_RENEW`
    public var notificationType: String?
    /// `subtype`, such as `BILLING_RECOVERY`
    public var subtype: String?
    /// `notificationUUID`: in small letters; the same when it is delivered again
    public var notificationUUID: String?
    /// `data`: the purchase and its change
    public var data: Data?
    /// `summary`: after a mass extension of renewal dates
    public var summary: Summary?
    /// `externalPurchaseToken`
    public var externalPurchaseToken: ExternalPurchaseToken?
    /// `appData`
    public var appData: AppData?
    /// `version`
    public var version: String? = "2.0"
    /// `signedDate`
    public var signedDate: Date?
    /// Further claims, last, in this order.
    public var extra: [Claim] = []
    /// The format of dates. Nested data has its own format.
    public var dateStyle = ClaimDateStyle.wholeMilliseconds

    /// A notification with its version and nothing else.
    public init() {}

    /// The purchase and its change.
    public struct Data: Hashable, Sendable {
        /// `appAppleId`: the number of the app; absent in the sandbox of apps that are not for sale
        public var appAppleID: Int64?
        /// `bundleId`
        public var bundleID: String?
        /// `bundleVersion`
        public var bundleVersion: String?
        /// `environment`
        public var environment: String?
        /// `signedTransactionInfo`: signed together with the notification
        public var transaction: SignedTransactionTemplate?
        /// `signedRenewalInfo`: signed together with the notification
        public var renewalInfo: RenewalInfoTemplate?
        /// `status`: 1 active, 2 expired, 3 billing retry, 4 grace, 5 revoked
        public var status: Int64?
        /// `consumptionRequestReason`, such as `UNINTENDED_PURCHASE`
        public var consumptionRequestReason: String?
        /// Further members, last, in this order.
        public var extra: [Claim] = []

        /// An empty object.
        public init() {}
    }

    /// The result of a mass extension of renewal dates.
    public struct Summary: Hashable, Sendable {
        /// `requestIdentifier`
        public var requestIdentifier: String?
        /// `environment`
        public var environment: String?
        /// `appAppleId`
        public var appAppleID: Int64?
        /// `bundleId`
        public var bundleID: String?
        /// `productId`
        public var productID: String?
        /// `storefrontCountryCodes`
        public var storefrontCountryCodes: [String]?
        /// `failedCount`
        public var failedCount: Int64?
        /// `succeededCount`
        public var succeededCount: Int64?

        /// An empty object.
        public init() {}
    }

    /// A purchase outside of the App Store that must be reported. In the sandbox its identifier begins with `SANDBOX`.
    public struct ExternalPurchaseToken: Hashable, Sendable {
        /// `externalPurchaseId`
        public var externalPurchaseID: String?
        /// `tokenCreationDate`
        public var tokenCreationDate: Date?
        /// `tokenExpirationDate`
        public var tokenExpirationDate: Date?
        /// `tokenType`, such as `ACQUISITION`
        public var tokenType: String?
        /// `appAppleId`
        public var appAppleID: Int64?
        /// `bundleId`
        public var bundleID: String?

        /// An empty object.
        public init() {}
    }

    /// A change of the app as a whole.
    public struct AppData: Hashable, Sendable {
        /// `appAppleId`
        public var appAppleID: Int64?
        /// `bundleId`
        public var bundleID: String?
        /// `environment`
        public var environment: String?
        /// `signedAppTransactionInfo`: signed together with the notification
        public var appTransaction: AppTransactionTemplate?

        /// An empty object.
        public init() {}
    }

    /// `signedDate`
    public var signingDate: Date? { signedDate }
}

extension NotificationTemplate {
    /// A notification about a purchase.
    /// - Parameters:
    ///   - transaction: the subject; app, environment and date are taken from it.
    ///   - renewalInfo: only for subscriptions.
    ///   - signedDate: when it is signed; as the transaction, if not given.
    public init(
        notificationType: String,
        subtype: String? = nil,
        transaction: SignedTransactionTemplate,
        renewalInfo: RenewalInfoTemplate? = nil,
        bundleVersion: String = "1",
        signedDate: Date? = nil
    ) {
        let signedDate = signedDate ?? transaction.signedDate
        var data = Data()
        data.appAppleID = transaction.environment == "Production" ? 1_234_567_890 : nil
        data.bundleID = transaction.bundleID
        data.bundleVersion = bundleVersion
        data.environment = transaction.environment
        data.transaction = transaction
        data.renewalInfo = renewalInfo
        data.status = renewalInfo == nil ? nil : 1
        self.notificationType = notificationType
        self.subtype = subtype
        notificationUUID = Self.uuid(notificationType, subtype, transaction.transactionID, signedDate)
        self.data = data
        self.signedDate = signedDate
    }

    /// The notification that a developer asks for to see whether any arrive.
    public static func test(
        bundleID: String, environment: String = "Sandbox", signedDate: Date
    ) -> NotificationTemplate {
        var data = Data()
        data.bundleID = bundleID
        data.environment = environment
        data.appAppleID = environment == "Production" ? 1_234_567_890 : nil
        var template = NotificationTemplate()
        template.notificationType = "TEST"
        template.notificationUUID = uuid("TEST", nil, bundleID, signedDate)
        template.data = data
        template.signedDate = signedDate
        return template
    }

    private static func uuid(_ type: String, _ subtype: String?, _ subject: String?, _ date: Date?) -> String {
        let seed = [type, subtype ?? "", subject ?? "", String(date?.wholeMilliseconds ?? 0)]
        return UUID(derivedFrom: seed.joined(separator: "|")).uuidString.lowercased()
    }
}
