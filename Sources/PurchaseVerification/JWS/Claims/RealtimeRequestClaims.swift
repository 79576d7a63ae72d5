/// The claims of a realtime request of the Retention Messaging API: the App Store asks which message or offer to show
/// to a customer who cancels (Apple, "DecodedRealtimeRequestBody"). It proves no purchase.
public final class RealtimeRequestClaims: SignedClaims {
    /// The first transaction of the subscription.
    public let originalTransactionID: String?
    /// The App Store's number of the app.
    public let appAppleID: UInt64?
    /// The product of the subscription.
    public let productID: String?
    /// The customer's locale, such as `en-US`.
    public let userLocale: String?
    /// The UUID of the request.
    public let requestIdentifier: String?
    /// The signing date, at which the validity of its certificates is checked.
    public let signedDate: AppStoreTime?
    public let statedEnvironment: String?
    /// Every claim without a field here, and claims of a type other than documented, unchanged.
    public let otherClaims: [String: JSONValue]

    init(_ reader: inout ClaimReader) throws(VerificationError) {
        originalTransactionID = try reader.claim("originalTransactionId")
        appAppleID = try reader.claim("appAppleId")
        productID = try reader.claim("productId")
        userLocale = reader.description("userLocale")
        requestIdentifier = reader.description("requestIdentifier")
        signedDate = try reader.date("signedDate")
        statedEnvironment = try reader.claim("environment")
        otherClaims = try reader.others()
    }
}
