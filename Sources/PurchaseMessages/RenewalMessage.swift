/// What the App Store signed about the next renewal of a subscription. A member that it did not sign is absent; times
/// are RFC 3339 in UTC.
public struct RenewalMessage: Codable, Sendable, Equatable {
    /// Whether the subscription renews automatically.
    public var autoRenew: Bool?
    /// The product of the next period.
    public var nextProduct: String?
    /// When the next period begins.
    public var renewsAt: String?
    /// The price of the next period, in thousandths of the currency.
    public var price: Int64?
    /// ISO 4217.
    public var currency: String?
    /// When the grace period ends.
    public var graceUntil: String?
    /// `true` if a grace period was signed without its end; absent otherwise.
    public var graceEndUnknown: Bool?
    /// Whether the App Store still tries to collect the price.
    public var billingRetry: Bool?
    /// Whether the customer agreed to a higher price.
    public var priceConsent: PriceConsent?
    /// Why the subscription ended, or will not be renewed.
    public var intent: Intent?
    /// The offer of the next period.
    public var offer: OfferMessage?
    /// The commitment to several payments.
    public var commitment: CommitmentMessage?
    /// The product of the bundle with which the subscription renews.
    public var bundleProductID: String?
    /// When it was signed.
    public var signedAt: String

    public init(
        autoRenew: Bool? = nil, nextProduct: String? = nil, renewsAt: String? = nil, price: Int64? = nil,
        currency: String? = nil, graceUntil: String? = nil, graceEndUnknown: Bool? = nil, billingRetry: Bool? = nil,
        priceConsent: PriceConsent? = nil, intent: Intent? = nil, offer: OfferMessage? = nil,
        commitment: CommitmentMessage? = nil, bundleProductID: String? = nil, signedAt: String
    ) {
        self.autoRenew = autoRenew
        self.nextProduct = nextProduct
        self.renewsAt = renewsAt
        self.price = price
        self.currency = currency
        self.graceUntil = graceUntil
        self.graceEndUnknown = graceEndUnknown
        self.billingRetry = billingRetry
        self.priceConsent = priceConsent
        self.intent = intent
        self.offer = offer
        self.commitment = commitment
        self.bundleProductID = bundleProductID
        self.signedAt = signedAt
    }

    enum CodingKeys: String, CodingKey {
        case price, currency, intent, offer, commitment
        case bundleProductID = "bundle_product_id"
        case autoRenew = "auto_renew"
        case nextProduct = "next_product"
        case renewsAt = "renews_at"
        case graceUntil = "grace_until"
        case graceEndUnknown = "grace_end_unknown"
        case billingRetry = "billing_retry"
        case priceConsent = "price_consent"
        case signedAt = "signed_at"
    }
}

extension RenewalMessage {
    /// Whether the customer agreed to a higher price (Apple, `priceIncreaseStatus`).
    public struct PriceConsent: WireEnumeration {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// They have not answered.
        public static let pending = PriceConsent(rawValue: "pending")
        public static let accepted = PriceConsent(rawValue: "accepted")

        /// The word for the App Store's number; `nil` for a number without a known meaning.
        public init?(number: Int64) {
            switch number {
            case 0: self = .pending
            case 1: self = .accepted
            default: return nil
            }
        }
    }

    /// Why a subscription ended (Apple, `expirationIntent`).
    public struct Intent: WireEnumeration {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// The customer cancelled it.
        public static let voluntary = Intent(rawValue: "voluntary")
        /// The price could not be collected.
        public static let billing = Intent(rawValue: "billing")
        /// The customer did not agree to a higher price.
        public static let price = Intent(rawValue: "price")
        /// The product was not for sale any more.
        public static let unavailable = Intent(rawValue: "unavailable")
        public static let other = Intent(rawValue: "other")

        /// The word for the App Store's number.
        public init(number: Int64) {
            switch number {
            case 1: self = .voluntary
            case 2: self = .billing
            case 3: self = .price
            case 4: self = .unavailable
            default: self = .other
            }
        }
    }
}

/// The commitment of a subscription that is paid in several billing periods, as the App Store signed it. A member that
/// it did not sign is absent.
public struct CommitmentMessage: Codable, Sendable, Equatable {
    /// The number of the billing period, from 1.
    public var period: Int64?
    /// The billing periods of the commitment.
    public var periods: Int64?
    /// When the commitment ends.
    public var until: String?
    /// Whether another commitment follows.
    public var autoRenew: Bool?

    public init(period: Int64? = nil, of periods: Int64? = nil, until: String? = nil, autoRenew: Bool? = nil) {
        self.period = period
        self.periods = periods
        self.until = until
        self.autoRenew = autoRenew
    }

    enum CodingKeys: String, CodingKey {
        case period, until
        case periods = "of"
        case autoRenew = "auto_renew"
    }
}
