public import Foundation

/// Signs offers, which an app passes to StoreKit (Apple, "Generating JWS to sign App Store requests", "Generating a
/// signature for promotional offers").
public struct OfferSigner: Sendable {
    private let key: AppStoreServerKey
    private let bundleID: String

    /// - Parameters:
    ///   - key: a key of App Store Connect for in-app purchases.
    ///   - bundleID: the app that shows the offer.
    public init(key: AppStoreServerKey, bundleID: String) {
        self.key = key
        self.bundleID = bundleID
    }

    /// The number of the key, which the app passes on with a signature of the first form.
    public var keyID: String { key.keyID }

    private struct Claims: Encodable {
        let iss: String
        let aud: String
        let iat: Int64
        let bid: String
        let nonce: String
        var productId: String?
        var offerIdentifier: String?
        var transactionId: String?
        var allowIntroductoryOffer: Bool?
        var request: String?
    }

    /// A promotional offer.
    ///
    /// - Parameters:
    ///   - transactionID: any transaction of the customer, or their download of the app; recommended, because the offer
    ///     is then theirs alone.
    ///   - nonce: new for each signature.
    ///   - date: the signing date.
    public func promotionalOffer(
        productID: String, offerID: String, transactionID: String?, nonce: UUID, at date: Date
    ) throws -> String {
        var claims = claims("promotional-offer", nonce, date)
        (claims.productId, claims.offerIdentifier, claims.transactionId) = (productID, offerID, transactionID)
        return try sign(claims)
    }

    /// The statement whether a customer may have an introductory offer.
    public func introductoryOfferEligibility(
        productID: String, isAllowed: Bool, transactionID: String, nonce: UUID, at date: Date
    ) throws -> String {
        var claims = claims("introductory-offer-eligibility", nonce, date)
        (claims.productId, claims.allowIntroductoryOffer, claims.transactionId) = (productID, isAllowed, transactionID)
        return try sign(claims)
    }

    /// A request of the Advanced Commerce API.
    ///
    /// - Parameter request: the request, as JSON.
    public func advancedCommerce(request: [UInt8], nonce: UUID, at date: Date) throws -> String {
        var claims = claims("advanced-commerce-api", nonce, date)
        claims.request = Data(request).base64EncodedString()
        return try sign(claims)
    }

    /// The signature of a promotional offer in the first form, in base64. It is valid for 24 hours.
    ///
    /// - Parameter applicationUsername: the account token of the purchase; empty for none.
    public func promotionalOfferV1(
        productID: String, offerID: String, applicationUsername: String, nonce: UUID, timestamp: Int64
    ) throws -> String {
        let parts = [
            bundleID, key.keyID, productID, offerID, applicationUsername.lowercased(),
            nonce.uuidString.lowercased(), "\(timestamp)",
        ]
        return Data(try key.signatureInDER(of: parts.joined(separator: "\u{2063}"))).base64EncodedString()
    }

    private func claims(_ audience: String, _ nonce: UUID, _ date: Date) -> Claims {
        Claims(
            iss: key.issuerID, aud: audience,
            iat: Int64(date.timeIntervalSince1970) - AppStoreServerKey.backdating, bid: bundleID,
            nonce: nonce.uuidString.lowercased())
    }

    private func sign(_ claims: Claims) throws -> String { try key.jws(try AppStoreServerKey.encoded(claims)) }
}
