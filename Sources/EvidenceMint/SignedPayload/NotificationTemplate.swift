public import Foundation

/// The content of a version 2 notification of the App Store server: `responseBodyV2DecodedPayload` in Apple's
/// documents.
///
/// A genuine notification has exactly one of `data`, `summary`, `externalPurchaseToken` and `appData`.
public struct NotificationTemplate: SignedPayloadTemplate, Hashable {
    /// Such as `DID_RENEW`
    @NamedField("notificationType") public var notificationType: String?
    /// Such as `BILLING_RECOVERY`
    @NamedField("subtype") public var subtype: String?
    /// In small letters; the same when it is delivered again
    @NamedField("notificationUUID") public var notificationUUID: String?
    /// The purchase and its change
    @NamedField("data") public var data: Data?
    /// After a mass extension of renewal dates
    @NamedField("summary") public var summary: Summary?
    @NamedField("externalPurchaseToken") public var externalPurchaseToken: ExternalPurchaseToken?
    @NamedField("appData") public var appData: AppData?
    @NamedField("version") public var version: String? = "2.0"
    @NamedField("signedDate") public var signedDate: Date?
    /// Further claims, last, in this order.
    public var extra: [Claim] = []
    /// The format of dates. Nested data has its own format.
    public var dateStyle = ClaimDateStyle.wholeMilliseconds

    /// A notification with its version and nothing else.
    public init() {}

    /// The purchase and its change.
    public struct Data: Hashable, Sendable {
        /// The number of the app; absent in the sandbox of apps that are not for sale
        @NamedField("appAppleId") public var appAppleID: Int64?
        @NamedField("bundleId") public var bundleID: String?
        @NamedField("bundleVersion") public var bundleVersion: String?
        @NamedField("environment") public var environment: String?
        /// Signed together with the notification
        @NamedField("signedTransactionInfo") public var transaction: SignedTransactionTemplate?
        /// Signed together with the notification
        @NamedField("signedRenewalInfo") public var renewalInfo: RenewalInfoTemplate?
        /// 1 active, 2 expired, 3 billing retry, 4 grace, 5 revoked
        @NamedField("status") public var status: Int64?
        /// Such as `UNINTENDED_PURCHASE`
        @NamedField("consumptionRequestReason") public var consumptionRequestReason: String?
        /// Further members, last, in this order.
        public var extra: [Claim] = []

        /// An empty object.
        public init() {}
    }

    /// The result of a mass extension of renewal dates.
    public struct Summary: Hashable, Sendable {
        @NamedField("requestIdentifier") public var requestIdentifier: String?
        @NamedField("environment") public var environment: String?
        @NamedField("appAppleId") public var appAppleID: Int64?
        @NamedField("bundleId") public var bundleID: String?
        @NamedField("productId") public var productID: String?
        @NamedField("storefrontCountryCodes") public var storefrontCountryCodes: [String]?
        @NamedField("failedCount") public var failedCount: Int64?
        @NamedField("succeededCount") public var succeededCount: Int64?

        /// An empty object.
        public init() {}
    }

    /// A purchase outside of the App Store that must be reported. In the sandbox its identifier begins with `SANDBOX`.
    public struct ExternalPurchaseToken: Hashable, Sendable {
        @NamedField("externalPurchaseId") public var externalPurchaseID: String?
        @NamedField("tokenCreationDate") public var tokenCreationDate: Date?
        @NamedField("tokenExpirationDate") public var tokenExpirationDate: Date?
        /// Such as `ACQUISITION`
        @NamedField("tokenType") public var tokenType: String?
        @NamedField("appAppleId") public var appAppleID: Int64?
        @NamedField("bundleId") public var bundleID: String?

        /// An empty object.
        public init() {}
    }

    /// A change of the app as a whole.
    public struct AppData: Hashable, Sendable {
        @NamedField("appAppleId") public var appAppleID: Int64?
        @NamedField("bundleId") public var bundleID: String?
        @NamedField("environment") public var environment: String?
        /// Signed together with the notification
        @NamedField("signedAppTransactionInfo") public var appTransaction: AppTransactionTemplate?

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
        notificationType: String, subtype: String? = nil, transaction: SignedTransactionTemplate,
        renewalInfo: RenewalInfoTemplate? = nil, bundleVersion: String = "1", signedDate: Date? = nil
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
        (self.notificationType, self.subtype) = (notificationType, subtype)
        notificationUUID = Self.uuid(notificationType, subtype, transaction.transactionID, signedDate)
        (self.data, self.signedDate) = (data, signedDate)
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

extension NotificationTemplate.Data: ClaimObject {}
extension NotificationTemplate.Summary: ClaimObject {}
extension NotificationTemplate.ExternalPurchaseToken: ClaimObject {}
extension NotificationTemplate.AppData: ClaimObject {}

/// The content of a realtime request of the Retention Messaging API: `DecodedRealtimeRequestBody` in Apple's documents.
public struct RealtimeRequestTemplate: SignedPayloadTemplate, Hashable {
    @NamedField("originalTransactionId") public var originalTransactionID: String?
    /// The number of the app
    @NamedField("appAppleId") public var appAppleID: Int64?
    @NamedField("productId") public var productID: String?
    /// Such as `en-US`
    @NamedField("userLocale") public var userLocale: String?
    /// A UUID in small letters
    @NamedField("requestIdentifier") public var requestIdentifier: String?
    @NamedField("environment") public var environment: String?
    @NamedField("signedDate") public var signedDate: Date?
    /// Further claims, last, in this order.
    public var extra: [Claim] = []
    /// The format of dates.
    public var dateStyle = ClaimDateStyle.wholeMilliseconds

    /// A request about a subscription.
    public init(originalTransactionID: String, productID: String, environment: String, signedDate: Date) {
        self.originalTransactionID = originalTransactionID
        appAppleID = 1_234_567_890
        self.productID = productID
        userLocale = "en-US"
        requestIdentifier = "2f6a9c1e-7c0d-4a52-9a3e-5f0a4f1d8b77"
        (self.environment, self.signedDate) = (environment, signedDate)
    }

    /// `signedDate`
    public var signingDate: Date? { signedDate }
}
