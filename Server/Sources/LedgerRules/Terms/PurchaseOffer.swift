/// The offer under which a transaction was bought. Its claims belong together and are merged as one value.
public struct PurchaseOffer: Sendable, Hashable {
    /// `offerType`: 1 introductory, 2 promotional, 3 offer code, 4 win-back.
    public var type: Int64?
    /// `offerIdentifier`.
    public var identifier: ExactText?
    /// `offerDiscountType`, such as `FREE_TRIAL`.
    public var discountType: ExactText?
    /// `offerPeriod` (ISO 8601 duration).
    public var period: ExactText?

    /// Creates an offer from its claims.
    ///
    /// - Returns: `nil` if none of them is present.
    public init?(
        type: Int64? = nil, identifier: ExactText? = nil, discountType: ExactText? = nil, period: ExactText? = nil
    ) {
        guard type != nil || identifier != nil || discountType != nil || period != nil else { return nil }
        self.type = type
        self.identifier = identifier
        self.discountType = discountType
        self.period = period
    }

    /// The identifier of a promotional offer; `nil` for other offers.
    public var promotionalOfferID: ExactText? { type == 2 ? identifier : nil }
    /// What a receipt has as the identifier of a promotional offer: it does not say of which type an offer is. A signed
    /// introductory offer has no identifier.
    public var receiptOfferID: ExactText? { type == 3 || type == 4 ? nil : identifier }
    /// The name of an offer code; `nil` for other offers.
    public var offerCodeName: ExactText? { type == 3 ? identifier : nil }
    /// Whether it is the introductory offer.
    public var isIntroductory: Bool { type == 1 }

    /// Whether nothing was charged for the period.
    public var isFreeTrial: Bool { discountType == "FREE_TRIAL" }
}
