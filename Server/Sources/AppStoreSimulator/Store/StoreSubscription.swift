public import Foundation

/// An auto-renewable subscription of a customer, from its first period on.
public struct StoreSubscription: Codable, Hashable, Sendable {
    /// The first transaction; it names the subscription.
    public let originalTransactionID: String
    public let bundleID: String
    public let customerID: String
    /// The group of products of the subscription.
    public let groupID: String
    /// The product of the present period, or of the last one.
    public var productID: String
    /// The transaction of the present period, or of the last one.
    public var transactionID: String
    public var status: Status
    /// The end of the present period, or of the last one.
    public var expiresDate: Date
    /// The end of the grace period, until which it continues without a renewal.
    public var gracePeriodExpiresDate: Date?
    public var autoRenews = true
    /// The product of the next period.
    public var autoRenewProductID: String
    /// The reason why it ended (`expiration_intent`): 1 the customer cancelled it, 2 it could not be paid, 3 the
    /// customer did not agree to a higher price, 4 the product was not for sale, 5 another reason.
    public var expirationIntent: Int?
    /// The price of the next period, in thousandths of the currency.
    public var renewalPrice: Int64
    /// A higher price that the customer was asked to agree to.
    public var priceIncrease: PriceIncrease?
    /// The offer that further periods are sold under.
    public var offer: RemainingOffer?
    /// Whether the next attempts to take the money fail.
    public var billingFails = false
    /// When the customer subscribed without a longer break.
    public var recentStartDate: Date
    /// The number of seats of the next period, if the product has seats.
    public var renewalSeats: UInt64?
    /// The subscription of the family member or purchaser who shares it. This subscription always has that one's state.
    public let sharedFrom: String?
    /// How fast it renews; nil for real time.
    public var renewalRate: SandboxRenewalRate?
    /// The renewals since it was last bought, at such a rate.
    var renewals: Int?
    /// When the developer extended it for this customer, oldest first; nil if never.
    public var extensions: [Date]?

    public enum Status: String, Codable, Hashable, Sendable, CaseIterable {
        /// Paid.
        case active
        /// Over, and not renewed.
        case expired
        /// Not paid and without access; the store keeps trying for 60 days.
        case billingRetry = "billing-retry"
        /// Not paid, but with access while the store keeps trying.
        case gracePeriod = "grace-period"
        /// Refunded, or no longer shared.
        case revoked

        /// The number in Apple's server API.
        public var number: Int {
            switch self {
            case .active: 1
            case .expired: 2
            case .billingRetry: 3
            case .gracePeriod: 4
            case .revoked: 5
            }
        }
    }

    /// A higher price, and whether the customer agreed.
    public struct PriceIncrease: Codable, Hashable, Sendable {
        /// The new price in thousandths of the currency.
        public let price: Int64
        public var isAccepted: Bool
    }

    /// An offer with periods that are still to come.
    public struct RemainingOffer: Codable, Hashable, Sendable {
        public let offerID: String
        public var periodsLeft: Int
    }

    /// The customer of an app who has it.
    var owner: String { StoreState.key(bundleID, customerID) }

    public var isUsable: Bool { status == .active || status == .gracePeriod }

    /// The time at which the store must act on it next; nil if it never must.
    var dueDate: Date? {
        guard sharedFrom == nil else { return nil }
        switch status {
        case .active: return expiresDate
        case .gracePeriod: return gracePeriodExpiresDate
        case .billingRetry: return expiresDate.addingTimeInterval(renewalRate.seconds(days: Self.billingRetryDays))
        case .expired, .revoked: return nil
        }
    }

    /// Apple, "Handling subscriptions billing": the store tries for up to 60 days.
    private static let billingRetryDays = 60
}
