public import Foundation

/// Something that happened in the store.
public struct StoreEvent: Codable, Hashable, Sendable {
    /// Its place in the log, from 1.
    public let number: Int
    /// When it happened, by the store's clock.
    public let date: Date
    /// The kind of the event.
    public let kind: Kind
    /// A description for people.
    public let summary: String
    /// The app.
    public let bundleID: String?
    public let customerID: String?
    /// The transaction as it was then.
    public let transaction: StoreTransaction?
    /// The subscription as it was then.
    public let subscription: StoreSubscription?
    /// The notification that a server would receive; nil if there is none.
    public let notification: Notification?

    /// The kinds of events.
    public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        case purchased, subscribed, resubscribed, renewed, recovered, expired, restored, finished, shared, refunded,
            revoked
        case upgraded, downgraded
        case billingFailed = "billing-failed"
        case gracePeriodExpired = "grace-period-expired"
        case renewalExtended = "renewal-extended"
        case autoRenewalChanged = "auto-renewal-changed"
        case priceIncreaseAsked = "price-increase-asked"
        case priceIncreaseAccepted = "price-increase-accepted"
        case refundAsked = "refund-asked"
        case refundDeclined = "refund-declined"
        case refundReversed = "refund-reversed"
        case receiptRefreshed = "receipt-refreshed"
    }

    /// The kind of a server notification, version 2 (Apple, "notificationType" and "subtype").
    public struct Notification: Codable, Hashable, Sendable {
        /// Such as `DID_RENEW`.
        public let type: String
        /// Such as `BILLING_RECOVERY`.
        public let subtype: String?
        /// The same wherever the same script has run.
        public let notificationUUID: String
    }
}
