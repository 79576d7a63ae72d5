// The answer to a realtime request of the Retention Messaging API (Apple, "RealtimeResponseBody"): exactly one of its
// four forms.

/// What Apple shows to a customer who is about to cancel a subscription.
public struct RealtimeAnswer: Codable, Sendable, Equatable {
    public var message: RealtimeMessage?
    public var alternateProduct: RealtimeAlternateProduct?
    public var promotionalOffer: RealtimePromotionalOffer?
    public var advancedCommerceInfo: RealtimeAdvancedCommerce?

    public init(message: RealtimeMessage) { self.message = message }

    /// A change to another product.
    public init(alternateProduct: RealtimeAlternateProduct) { self.alternateProduct = alternateProduct }

    public init(promotionalOffer: RealtimePromotionalOffer) { self.promotionalOffer = promotionalOffer }

    /// A purchase by the Advanced Commerce API.
    public init(advancedCommerceInfo: RealtimeAdvancedCommerce) { self.advancedCommerceInfo = advancedCommerceInfo }
}

/// A message that Apple has approved.
public struct RealtimeMessage: Codable, Sendable, Equatable {
    public var messageIdentifier: String

    public init(messageIdentifier: String) { self.messageIdentifier = messageIdentifier }
}

/// Another product of the same group, with a message.
public struct RealtimeAlternateProduct: Codable, Sendable, Equatable {
    public var messageIdentifier: String
    public var productId: String
    /// `BILLED_UPFRONT` or `MONTHLY`.
    public var billingPlanType: String?

    public init(messageIdentifier: String, productId: String, billingPlanType: String? = nil) {
        (self.messageIdentifier, self.productId, self.billingPlanType) = (messageIdentifier, productId, billingPlanType)
    }
}

/// A promotional offer with a message.
public struct RealtimePromotionalOffer: Codable, Sendable, Equatable {
    public var messageIdentifier: String
    /// The offer as a JSON Web Signature.
    public var promotionalOfferSignatureV2: String

    public init(messageIdentifier: String, promotionalOfferSignatureV2: String) {
        (self.messageIdentifier, self.promotionalOfferSignatureV2) = (messageIdentifier, promotionalOfferSignatureV2)
    }
}

/// A change by the Advanced Commerce API, with a message.
public struct RealtimeAdvancedCommerce: Codable, Sendable, Equatable {
    public var messageIdentifier: String
    public var advancedCommerceData: String

    public init(messageIdentifier: String, advancedCommerceData: String) {
        (self.messageIdentifier, self.advancedCommerceData) = (messageIdentifier, advancedCommerceData)
    }
}
