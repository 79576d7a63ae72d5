import PurchaseVerification

/// `order_created`.
struct OrderCreatedDetails: JournalDetails {
    static var kind: JournalKind { .orderCreated }
    var customer: String
    var productID: String
    var quantity: Int64
    var environment: String?
    /// Whether an automatic renewal pays it; `nil` for `false`.
    var acceptsRenewal: Bool?
    var token: String
    /// Whether the token is new and is assigned to the customer by this order.
    var assignsToken: Bool
    var metadata: String?
    var expiresAt: Int64
}

/// `order_fulfilled`: for a consumable, with the units that fulfilment took from the lot.
struct OrderFulfilledDetails: JournalDetails {
    static var kind: JournalKind { .orderFulfilled }
    var keyID: String?
    var takes: [LotTake]
    /// The delivered units; `nil` for the whole order, as recorded before it could be delivered in parts.
    var units: Int64?
    /// The units that remained afterwards; `nil` for 0.
    var remaining: Int64?
}

/// `order_closed`.
struct OrderClosedDetails: JournalDetails {
    static var kind: JournalKind { .orderClosed }
    var keyID: String?
    var reason: String
}

/// `order_cancelled`.
struct OrderCancelledDetails: JournalDetails {
    static var kind: JournalKind { .orderCancelled }
    var keyID: String?
}

/// `offer_signed`.
struct OfferSignedDetails: JournalDetails {
    static var kind: JournalKind { .offerSigned }
    var customer: String
    /// `OfferKind`.
    var offerKind: String
    /// The id of the offer; empty for the kinds without one.
    var offerID: String
    var productID: String?
    var transactionID: String?
    /// The nonce of the signature, by which a signature that was seen elsewhere is recognised.
    var nonce: String
    /// Whether the customer may have the introductory offer.
    var allowsIntroductory: Bool?
    /// The SHA-256 of the signed request of the Advanced Commerce API.
    var requestSHA256: String?
}
