public import Foundation
import PurchaseMessages
import PurchaseVerification

/// What the App Store signed about the next renewal of a subscription, by the server's answer or by signed renewal
/// info. What it did not sign is `nil`.
public struct PurchaseRenewal: Sendable, Codable, Equatable {
    public var autoRenew: Bool?
    /// The product of the next period. It differs from the present one after a change that takes effect then.
    public var nextProduct: String?
    public var renewsAt: Date?
    /// The price of the next period.
    public var price: Decimal?
    /// The currency of the price (ISO 4217).
    public var currency: String?
    public var graceUntil: Date?
    /// Whether the App Store still tries to collect the price.
    public var billingRetry: Bool?
    public var priceConsent: PriceConsent?
    /// Why the subscription ended, or will not be renewed.
    public var intent: Intent?
    public var offer: Offer?
    /// The commitment to several payments.
    public var commitment: Commitment?
    /// The product of the bundle or suite with which it renews.
    public var bundleProductID: String?
    public var signedAt: Date

    /// Whether the customer agreed to a higher price.
    public enum PriceConsent: String, Sendable, Codable {
        /// They have not answered.
        case pending
        case accepted
    }

    public enum Intent: String, Sendable, Codable {
        /// The customer cancelled it.
        case voluntary
        /// The price could not be collected.
        case billing
        /// The customer did not agree to a higher price.
        case price
        /// The product was not for sale any more.
        case unavailable
        case other
    }

    /// An offer, with the values of the App Store.
    public struct Offer: Sendable, Codable, Equatable {
        /// 1 introductory, 2 promotional, 3 offer code, 4 win-back.
        public var type: Int64?
        public var identifier: String?
        /// `FREE_TRIAL`, `PAY_AS_YOU_GO`, `PAY_UP_FRONT` or `ONE_TIME`.
        public var discountType: String?
        /// An ISO 8601 duration.
        public var period: String?

        public init(
            type: Int64? = nil, identifier: String? = nil, discountType: String? = nil, period: String? = nil
        ) { (self.type, self.identifier, self.discountType, self.period) = (type, identifier, discountType, period) }
    }

    /// The commitment of a subscription that is paid in several billing periods.
    public struct Commitment: Sendable, Codable, Equatable {
        /// The number of the billing period, from 1.
        public var period: Int64?
        /// The billing periods of the commitment.
        public var periods: Int64?
        public var until: Date?
        /// Whether another commitment follows.
        public var autoRenew: Bool?

        public init(period: Int64? = nil, periods: Int64? = nil, until: Date? = nil, autoRenew: Bool? = nil) {
            (self.period, self.periods, self.until, self.autoRenew) = (period, periods, until, autoRenew)
        }
    }

    /// A renewal, for the tests of an app.
    public init(
        autoRenew: Bool? = nil, nextProduct: String? = nil, renewsAt: Date? = nil, price: Decimal? = nil,
        currency: String? = nil, graceUntil: Date? = nil, billingRetry: Bool? = nil, priceConsent: PriceConsent? = nil,
        intent: Intent? = nil, offer: Offer? = nil, commitment: Commitment? = nil, bundleProductID: String? = nil,
        signedAt: Date
    ) {
        (self.autoRenew, self.nextProduct, self.renewsAt, self.price) = (autoRenew, nextProduct, renewsAt, price)
        (self.currency, self.graceUntil, self.billingRetry) = (currency, graceUntil, billingRetry)
        (self.priceConsent, self.intent, self.offer) = (priceConsent, intent, offer)
        (self.commitment, self.bundleProductID, self.signedAt) = (commitment, bundleProductID, signedAt)
    }

    /// What was signed, in the words of the interface: the server's answer and signed renewal info are read alike.
    init?(_ message: RenewalMessage) {
        func date(_ text: String?) -> Date? { text.flatMap { AppStoreTime($0)?.date } }
        guard let signedAt = date(message.signedAt) else { return nil }
        self.init(
            autoRenew: message.autoRenew, nextProduct: message.nextProduct, renewsAt: date(message.renewsAt),
            price: message.price.map { Decimal($0) / 1000 }, currency: message.currency,
            graceUntil: date(message.graceUntil), billingRetry: message.billingRetry,
            priceConsent: message.priceConsent.flatMap { PriceConsent(rawValue: $0.rawValue) },
            intent: message.intent.map { Intent(rawValue: $0.rawValue) ?? .other },
            offer: message.offer.map {
                Offer(type: $0.type, identifier: $0.identifier, discountType: $0.discountType, period: $0.period)
            },
            commitment: message.commitment.map {
                Commitment(period: $0.period, periods: $0.periods, until: date($0.until), autoRenew: $0.autoRenew)
            },
            bundleProductID: message.bundleProductID, signedAt: signedAt)
    }

    init?(_ info: SignedRenewalInfo) {
        guard let signedAt = info.signedDate else { return nil }
        let offer = OfferMessage(
            type: info.offerType?.rawValue, identifier: info.offerIdentifier,
            discountType: info.offerDiscountType?.rawValue, period: info.offerPeriod)
        self.init(
            RenewalMessage(
                autoRenew: info.autoRenewStatus.flatMap { [.on, .off].contains($0) ? $0 == .on : nil },
                nextProduct: info.autoRenewProductID, renewsAt: info.renewalDate?.description, price: info.renewalPrice,
                currency: info.currency, graceUntil: info.gracePeriodExpiresDate?.description,
                billingRetry: info.isInBillingRetryPeriod,
                priceConsent: info.priceIncreaseStatus.flatMap { RenewalMessage.PriceConsent(number: $0.rawValue) },
                intent: info.expirationIntent.map { RenewalMessage.Intent(number: $0.rawValue) },
                offer: offer == OfferMessage() ? nil : offer,
                commitment: info.commitmentInfo.flatMap { CommitmentMessage(signed: $0) },
                bundleProductID: info.bundle?.productID,
                signedAt: signedAt.description))
    }
}

extension CommitmentMessage {
    /// What renewal info states of a commitment: whether another one follows.
    fileprivate init?(signed info: JSONValue) {
        guard case .object(let members) = info, case .integer(let status)? = members["commitmentAutoRenewStatus"],
            status == 0 || status == 1
        else { return nil }
        self.init(autoRenew: status == 1)
    }
}

extension PurchaseRenewal {
    /// Its content without the date of the signature: it is signed anew each time, often without news.
    var version: String {
        var parts: [String] = []
        if let autoRenew { parts.append(autoRenew ? "on" : "off") }
        for text in [nextProduct, priceConsent?.rawValue, intent?.rawValue, offer?.identifier, bundleProductID] {
            parts.append(text ?? "-")
        }
        for date in [renewsAt, graceUntil] {
            parts.append(date.map { "\(Int64($0.timeIntervalSince1970))" } ?? "-")
        }
        parts.append(billingRetry == true ? "retry" : "-")
        // Only renewal info states what follows, and a device has no more than it.
        if let follows = commitment?.autoRenew { parts.append(follows ? "committed" : "last commitment") }
        parts.append(price.map { "\($0)" } ?? "-")
        return parts.joined(separator: " ")
    }
}
