public import Foundation

/// Something that happened in the store.
public struct StoreEvent: Codable, Hashable, Sendable {
    /// Its place in the log, from 1.
    public let number: Int
    /// When it happened, by the store's clock.
    public let date: Date
    /// The milliseconds after `date` at which it is signed: events of the same second are signed one after the other,
    /// as Apple signs them, so that the order of their evidence is clear; nil is 0.
    public let milliseconds: Int?
    public let kind: Kind
    /// A description for people.
    public let summary: String
    public let bundleID: String?
    public let customerID: String?
    public let transaction: StoreTransaction?
    public let subscription: StoreSubscription?
    /// The notification that a server would receive; nil if there is none.
    public let notification: Notification?

    /// When its notification is signed.
    var signedAt: Date { date.addingTimeInterval(Double(milliseconds ?? 0) / 1000) }

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
        case seatsAdded = "seats-added"
        case renewalSeatsChanged = "renewal-seats-changed"
        case seatAssigned = "seat-assigned"
        case extensionFailed = "extension-failed"
        case accountTokenSet = "account-token-set"
        /// A notification that a tester caused without anything else.
        case notified
    }

    /// The kind of a server notification, version 2 (Apple, "notificationType" and "subtype").
    public struct Notification: Codable, Hashable, Sendable {
        /// Such as `DID_RENEW`.
        public let type: String
        /// Such as `BILLING_RECOVERY`.
        public let subtype: String?
        /// The same wherever the same script has run.
        public var notificationUUID: String
        /// The environment, if the notification is about no transaction and no customer.
        public var environment: StoreEnvironment?
        /// The object of the notification; nil is `data`.
        public var object: Object?
        /// For the object `summary`.
        public var summary: Summary?
        /// For the object `external-purchase-token`.
        public var externalPurchaseToken: ExternalPurchaseToken?
        /// For the object `unclaim-info`: the seats whose access ends.
        public var unclaimedSeats: [String]?

        /// The objects of notifications that are not `data`, in words; Apple's names are `summary`,
        /// `externalPurchaseToken`, `appData` and `unclaimInfo`.
        public enum Object: String, Codable, Hashable, Sendable {
            case summary
            case externalPurchaseToken = "external-purchase-token"
            case appData = "app-data"
            case unclaimInfo = "unclaim-info"
        }

        /// The outcome of an extension for all subscribers of a product.
        public struct Summary: Codable, Hashable, Sendable {
            /// The developer's name of the extension.
            public let requestIdentifier: String
            public let productID: String?
            /// The storefronts, in three letters each; nil for all.
            public let storefrontCountryCodes: [String]?
            /// The number of extended subscriptions.
            public let succeededCount: Int64
            /// The number of subscriptions that could not be extended.
            public let failedCount: Int64
        }

        /// A token for a purchase outside of the App Store.
        public struct ExternalPurchaseToken: Codable, Hashable, Sendable {
            /// In the sandbox it begins with `SANDBOX`.
            public let externalPurchaseID: String
            public let creationDate: Date
            /// When it expires; only tokens for custom links do.
            public let expirationDate: Date?
            /// `SERVICES` or `ACQUISITION`; only tokens for custom links have it.
            public let tokenType: String?
        }
    }
}
