public import Foundation

/// The content of a realtime request of the Retention Messaging API: `DecodedRealtimeRequestBody` in Apple's documents.
public struct RealtimeRequestTemplate: SignedPayloadTemplate, Hashable {
    /// `originalTransactionId`
    public var originalTransactionID: String?
    /// `appAppleId`: the number of the app
    public var appAppleID: Int64?
    /// `productId`
    public var productID: String?
    /// `userLocale`, such as `en-US`
    public var userLocale: String?
    /// `requestIdentifier`: a UUID in small letters
    public var requestIdentifier: String?
    /// `environment`
    public var environment: String?
    /// `signedDate`
    public var signedDate: Date?
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
        self.environment = environment
        self.signedDate = signedDate
    }

    /// `signedDate`
    public var signingDate: Date? { signedDate }

    /// All claims, in the order of Apple's document; nothing is nested within.
    public func claims(signing sign: (any SignedPayloadTemplate) throws -> String) rethrows -> [Claim] {
        var list = ClaimList(dateStyle)
        list.add("originalTransactionId", originalTransactionID)
        list.add("appAppleId", appAppleID)
        list.add("productId", productID)
        list.add("userLocale", userLocale)
        list.add("requestIdentifier", requestIdentifier)
        list.add("environment", environment)
        list.add("signedDate", signedDate)
        return list.claims + extra
    }
}
