public import Foundation
import PurchaseAPI

/// A transaction: a purchase, a renewal, or a restored copy.
public struct StoreTransaction: Codable, Hashable, Sendable {
    /// Its identifier; no two transactions have the same.
    public var transactionID: String
    /// The first transaction of the purchase that this one belongs to.
    public var originalTransactionID: String
    public var bundleID: String
    /// The customer who bought it, or with whom it is shared.
    public var customerID: String
    public var productID: String
    public var kind: StoreProduct.Kind
    public var quantity: UInt64
    /// When it was bought, renewed or restored.
    public var purchaseDate: Date
    /// When the original transaction was made.
    public var originalPurchaseDate: Date
    /// When the period that it pays for ends.
    public var expiresDate: Date?
    /// The number of the period, the same on every device and in every restored copy.
    public var webOrderLineItemID: UInt64?
    public var subscriptionGroupID: String?
    /// The offer that the period was sold under.
    public var offer: Offer?
    /// Whether it was bought, or is shared by a family member.
    public var ownership: Ownership
    /// The app's identifier of the buyer, a UUID.
    public var appAccountToken: String?
    /// Whether the customer did something, or the store did.
    public var reason: Reason
    /// The paid price, in thousandths of the currency.
    public var price: Int64
    /// ISO 4217.
    public var currency: String
    /// The side of the store.
    public var environment: StoreEnvironment
    /// When and why it ended before its time.
    public var revocation: Revocation?
    /// When the customer changed to a higher level before the period ended.
    public var upgradeDate: Date?
    /// Whether the app reported that it delivered the purchase.
    public var isFinished = false
    /// The transaction that it is a restored copy of.
    public var restoredFrom: String?
    /// The restored copy that replaced it in receipts.
    public var restoredAs: String?
    /// The family member's transaction that it is shared from.
    public var sharedFromTransactionID: String?
    /// The seats that it pays for, if the product has seats.
    public var seats: Seats?
    /// The first transaction of the period, if this one added seats to it.
    public var seatsAddedTo: String?
    /// Why the period has more than one transaction, in Apple's words (`additionalTransactionReason`): on each of them.
    public var additionalReason: String?
    /// The number of its last change, in the order of all changes of transactions: the order of the App Store Server
    /// API.
    public var lastChange: Int?

    /// The seats of a transaction. Its quantity is their number, and its price the average price of one.
    public struct Seats: Codable, Hashable, Sendable {
        public let invitations: SeatInvitations
        /// The number of seats that were refunded.
        public var revoked: UInt64 = 0
    }

    public struct Offer: Codable, Hashable, Sendable {
        public let offerID: String
        /// The customers who are eligible for the offer.
        public let kind: StoreOffer.Kind
        /// The way of payment of the offer.
        public let mode: StoreOffer.Mode

        init(_ offer: StoreOffer) { (offerID, kind, mode) = (offer.offerID, offer.kind, offer.mode) }
    }

    /// The type of ownership, in Apple's words.
    public enum Ownership: String, Codable, Hashable, Sendable {
        case purchased = "PURCHASED"
        /// A family member's.
        case familyShared = "FAMILY_SHARED"
        /// A seat that the purchaser gave to a member.
        case assigned = "ASSIGNED"
    }

    /// The reason for the transaction, in Apple's words.
    public enum Reason: String, Codable, Hashable, Sendable {
        case purchase = "PURCHASE"
        case renewal = "RENEWAL"
    }

    /// A refund, or the end of sharing.
    public struct Revocation: Codable, Hashable, Sendable {
        public let date: Date
        /// 1 for a problem with the app, 0 for anything else (`cancellation_reason`).
        public let reason: Int
        /// Refunded in full or in part.
        public let kind: Kind
        /// The refunded share of the price, over all refunds together, in thousandths of a percent
        /// (`revocationPercentage`). Nil for the full price.
        public let percentage: Int64?

        /// All of a transaction, in thousandths of a percent.
        public static let wholePercentage: Int64 = 100_000

        public var isPartial: Bool { percentage.map { $0 < Self.wholePercentage } ?? false }

        /// The ways in which a transaction ends before its time.
        public enum Kind: String, Codable, Hashable, Sendable {
            case refund
            /// The family member stopped sharing, or left.
            case familySharing = "family-sharing"
            /// The purchaser took the seat back.
            case assignment
        }
    }

    /// A transaction with the same content, to which nothing has happened yet.
    func copy(as transactionID: String) -> StoreTransaction {
        var copy = self
        copy.transactionID = transactionID
        (copy.revocation, copy.upgradeDate, copy.isFinished) = (nil, nil, false)
        (copy.restoredFrom, copy.restoredAs, copy.sharedFromTransactionID) = (nil, nil, nil)
        copy.seats = seats.map { Seats(invitations: $0.invitations) }
        (copy.seatsAddedTo, copy.additionalReason, copy.lastChange) = (nil, nil, nil)
        return copy
    }

    /// The customer of an app who has it.
    var owner: String { StoreState.key(bundleID, customerID) }

    /// Whether signed data of both differs.
    func looksDifferent(from other: StoreTransaction) -> Bool {
        var (left, right) = (self, other)
        (left.lastChange, left.isFinished, left.restoredAs) = (nil, false, nil)
        (right.lastChange, right.isFinished, right.restoredAs) = (nil, false, nil)
        return left != right
    }

    /// Whether the customer changed to a higher level before the period ended.
    public var isUpgraded: Bool { upgradeDate != nil }
    /// Whether the period costs nothing because of an offer.
    public var isTrialPeriod: Bool { offerFlags.isTrialPeriod }
    /// Whether the period counts as one with an introductory offer.
    public var isInIntroOfferPeriod: Bool { offerFlags.isInIntroOfferPeriod }

    private var offerFlags: OfferFlags {
        OfferFlags(
            isIntroductory: offer?.kind == .introductory, isFree: offer?.mode == .freeTrial,
            purchaseDate: Int64((purchaseDate.timeIntervalSince1970 * 1000).rounded(.down)))
    }
}

extension StoreTransaction {
    /// The number of the order in the mail that the customer gets; nil if nothing was paid: restored copies and what is
    /// shared have none.
    public var orderID: String? {
        guard restoredFrom == nil, ownership == .purchased, let number = UInt64(transactionID) else { return nil }
        let digits = String(number, radix: 36, uppercase: true)
        return Self.orderPrefix + String(repeating: "0", count: max(0, Self.orderDigits - digits.utf8.count)) + digits
    }

    /// The transaction of an order.
    /// - Returns: nil if the number has another form, or is of the other environment.
    static func transactionID(ofOrder orderID: String, in environment: StoreEnvironment) -> String? {
        guard orderID.hasPrefix(orderPrefix), let number = UInt64(orderID.dropFirst(orderPrefix.count), radix: 36),
            environment == .production
        else { return nil }
        return "\(number)"
    }

    private static let orderPrefix = "MS"
    private static let orderDigits = 11
}

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
