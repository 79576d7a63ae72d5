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
    }

    /// What was signed, in the words of the interface: the server's answer and signed renewal info are read alike.
    init?(_ message: RenewalMessage) {
        guard let signedAt = AppStoreTime(message.signedAt)?.date else { return nil }
        autoRenew = message.autoRenew
        nextProduct = message.nextProduct
        renewsAt = message.renewsAt.flatMap { AppStoreTime($0)?.date }
        price = message.price.map { Decimal($0) / 1000 }
        currency = message.currency
        graceUntil = message.graceUntil.flatMap { AppStoreTime($0)?.date }
        billingRetry = message.billingRetry
        priceConsent = message.priceConsent.flatMap { PriceConsent(rawValue: $0.rawValue) }
        intent = message.intent.map { Intent(rawValue: $0.rawValue) ?? .other }
        offer = message.offer.map { offer in
            Offer(
                type: offer.type, identifier: offer.identifier, discountType: offer.discountType, period: offer.period)
        }
        commitment = message.commitment.map { commitment in
            Commitment(
                period: commitment.period, periods: commitment.periods,
                until: commitment.until.flatMap { AppStoreTime($0)?.date }, autoRenew: commitment.autoRenew)
        }
        self.signedAt = signedAt
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
        for text in [nextProduct, priceConsent?.rawValue, intent?.rawValue, offer?.identifier] {
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
