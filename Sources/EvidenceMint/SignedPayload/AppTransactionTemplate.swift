public import Foundation

/// The content of a signed app transaction: `AppTransaction` in StoreKit 2, which took the place of the app receipt.
public struct AppTransactionTemplate: SignedPayloadTemplate, Hashable {
    /// The environment; `Sandbox`, `Production` or `Xcode`
    @NamedField("receiptType") public var receiptType: String?
    /// The number of the app; 0 or absent in the sandbox
    @NamedField("appAppleId") public var appAppleID: Int64?
    @NamedField("bundleId") public var bundleID: String?
    @NamedField("applicationVersion") public var applicationVersion: String?
    @NamedField("versionExternalIdentifier") public var versionExternalIdentifier: Int64?
    /// When it was signed
    @NamedField("receiptCreationDate") public var receiptCreationDate: Date?
    /// The same time in all payloads seen
    @NamedField("requestDate") public var requestDate: Date?
    /// When the app was first bought
    @NamedField("originalPurchaseDate") public var originalPurchaseDate: Date?
    @NamedField("originalApplicationVersion") public var originalApplicationVersion: String?
    @NamedField("preorderDate") public var preorderDate: Date?
    /// `deviceVerification` and `deviceVerificationNonce`
    public var deviceVerification: DeviceVerification?
    @NamedField("appTransactionId") public var appTransactionID: String?
    /// Such as `iOS`
    @NamedField("originalPlatform") public var originalPlatform: String?
    /// Further claims, last, in this order.
    public var extra: [Claim] = []
    /// The format of dates.
    public var dateStyle = ClaimDateStyle.wholeMilliseconds

    /// An app transaction with nothing in it.
    public init() {}

    /// `receiptCreationDate`
    public var signingDate: Date? { receiptCreationDate }

    /// The claim `receiptCreationDate`.
    public static var signingDateClaim: String { "receiptCreationDate" }
}

extension AppTransactionTemplate {
    /// The app transaction of an app that was bought the day before in production, and on 2013-08-01 in the sandbox.
    /// - Parameters:
    ///   - environment: `Sandbox`, `Production`, or a name of your own.
    ///   - deviceID: the device that it is made for (`AppStore.deviceVerificationID`).
    public init(
        bundleID: String, creationDate: Date, environment: String = "Sandbox", applicationVersion: String = "1",
        deviceID: UUID? = nil
    ) {
        let isProduction = environment == "Production"
        receiptType = environment
        appAppleID = isProduction ? 1_234_567_890 : 0
        (self.bundleID, self.applicationVersion) = (bundleID, applicationVersion)
        versionExternalIdentifier = isProduction ? 870_000_001 : 0
        receiptCreationDate = creationDate
        requestDate = creationDate
        originalPurchaseDate =
            isProduction ? creationDate.addingTimeInterval(-86_400) : Date(timeIntervalSince1970: 1_375_340_400)
        originalApplicationVersion = "1.0"
        deviceVerification = deviceID.map {
            DeviceVerification(deviceID: $0, seed: "\(bundleID)|\(creationDate.wholeMilliseconds)")
        }
        appTransactionID = "700000000000000001"
        originalPlatform = "iOS"
    }

    /// The app transaction as StoreKit testing in Xcode writes it. Sign it with an `XcodeSigner`.
    public var asXcodeWritesIt: AppTransactionTemplate {
        var template = self
        template.receiptType = "Xcode"
        template.dateStyle = .fractionalMilliseconds
        for date in [\Self.receiptCreationDate, \Self.requestDate, \Self.originalPurchaseDate, \Self.preorderDate] {
            template[keyPath: date] = template[keyPath: date]?.finerThanMilliseconds
        }
        return template
    }
}

extension AppTransactionTemplate: NestedPayload {}
