/// A signed offer, with everything that the app passes to StoreKit.
public struct OfferSignatureMessage: Codable, Sendable, Equatable {
    public var customerID: String
    public var kind: String
    /// The compact JSON Web Signature; for every kind but `promotional_v1`.
    public var jws: String?
    /// The signature in base64; only for `promotional_v1`, like the three below.
    public var signature: String?
    public var keyID: String?
    public var nonce: String?
    /// In milliseconds since 1970.
    public var timestamp: Int64?
    public var productID: String?
    public var offerID: String?
    public var signedAt: String
    /// The entry in the record.
    public var entryID: String
    /// The customer into whom the one of the request was merged; absent if they were not.
    public var mergedInto: String?

    /// A signed offer by its required parts.
    public init(customerID: String, kind: String, signedAt: String, entryID: String) {
        self.customerID = customerID
        self.kind = kind
        self.signedAt = signedAt
        self.entryID = entryID
    }

    enum CodingKeys: String, CodingKey {
        case kind, jws, signature, nonce, timestamp
        case customerID = "customer_id"
        case keyID = "key_id"
        case productID = "product_id"
        case offerID = "offer_id"
        case signedAt = "signed_at"
        case entryID = "entry_id"
        case mergedInto = "merged_into"
    }
}
