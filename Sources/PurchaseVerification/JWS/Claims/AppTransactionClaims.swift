/// The claims of an app transaction: the app and its original purchase (Apple, "AppTransaction" and
/// "JWSAppTransactionDecodedPayload").
public final class AppTransactionClaims: SignedClaims {
    /// The environment: `Production`, `Sandbox` or `Xcode`.
    public let receiptType: String?
    /// The App Store's number of the app; absent outside of production.
    public let appAppleID: UInt64?
    /// The bundle id of the app.
    public let bundleID: String?
    /// The version of the app.
    public let applicationVersion: String?
    /// The App Store's number of the app's version.
    public let versionExternalIdentifier: UInt64?
    /// The signing date, at which the validity of its certificates is checked.
    public let creationDate: AppStoreTime?
    /// When the device asked for it.
    public let requestDate: AppStoreTime?
    /// When the app was first bought.
    public let originalPurchaseDate: AppStoreTime?
    /// The version of the app that was first bought.
    public let originalApplicationVersion: String?
    /// The device hash in base64.
    public let deviceVerification: String?
    /// The UUID that goes into the device hash.
    public let deviceVerificationNonce: String?
    /// When the app was ordered ahead of its release.
    public let preorderDate: AppStoreTime?
    /// The customer's download of the app.
    public let appTransactionID: String?
    /// The platform on which the app was first bought.
    public let originalPlatform: PurchasePlatform?
    /// The signing date under this name, if it is present.
    public let signedDate: AppStoreTime?
    /// Every claim without a field here, and claims of a type other than documented, unchanged.
    public let otherClaims: [String: JSONValue]

    init(_ reader: inout ClaimReader) throws(VerificationError) {
        receiptType = try reader.claim("receiptType")
        appAppleID = try reader.claim("appAppleId")
        bundleID = try reader.claim("bundleId")
        applicationVersion = try reader.claim("applicationVersion")
        versionExternalIdentifier = reader.description("versionExternalIdentifier")
        creationDate = try reader.date("receiptCreationDate")
        requestDate = try reader.date("requestDate")
        originalPurchaseDate = try reader.date("originalPurchaseDate")
        originalApplicationVersion = reader.description("originalApplicationVersion")
        deviceVerification = try reader.claim("deviceVerification")
        deviceVerificationNonce = try reader.claim("deviceVerificationNonce")
        preorderDate = try reader.date("preorderDate")
        appTransactionID = reader.description("appTransactionId")
        originalPlatform = reader.openDescription("originalPlatform")
        signedDate = try reader.date("signedDate")
        otherClaims = try reader.others()
    }
}
