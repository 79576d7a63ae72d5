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
