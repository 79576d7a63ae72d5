// The values that Apple may add to, each kept as it was written.

/// A value of a set that Apple may extend: an unknown value stays readable by its raw value.
public protocol OpenValue: RawRepresentable, Sendable, Hashable {
    init(rawValue: RawValue)
}

/// The reason for a transaction (Apple, "transactionReason").
public struct TransactionReason: OpenValue {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let purchase = Self(rawValue: "PURCHASE")
    public static let renewal = Self(rawValue: "RENEWAL")
}

/// The reason for a further transaction of a period (Apple, "additionalTransactionReason").
public struct AdditionalTransactionReason: OpenValue {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Seats were added during the period; also on the transaction before (StoreKit 27.3).
    public static let seatAddition = Self(rawValue: "SEAT_ADDITION")
}

/// The reason for a revocation (Apple, "revocationReason").
public struct RevocationReason: OpenValue {
    public let rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }

    public static let other = Self(rawValue: 0)
    public static let issueInApp = Self(rawValue: 1)
}

/// The extent of a revocation (Apple, "revocationType").
public struct RevocationType: OpenValue {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let fullRefund = Self(rawValue: "REFUND_FULL")
    public static let proratedRefund = Self(rawValue: "REFUND_PRORATED")
    public static let familyRevoke = Self(rawValue: "FAMILY_REVOKE")
}

/// The kind of offer (Apple, "offerType").
public struct AppStoreOfferType: OpenValue {
    public let rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }

    public static let introductory = Self(rawValue: 1)
    public static let promotional = Self(rawValue: 2)
    public static let offerCode = Self(rawValue: 3)
    public static let winBack = Self(rawValue: 4)
}

/// The way of payment of an offer (Apple, "offerDiscountType").
public struct OfferDiscountType: OpenValue {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let freeTrial = Self(rawValue: "FREE_TRIAL")
    public static let payAsYouGo = Self(rawValue: "PAY_AS_YOU_GO")
    public static let payUpFront = Self(rawValue: "PAY_UP_FRONT")
    public static let oneTime = Self(rawValue: "ONE_TIME")
}

/// The reason why a subscription ended (Apple, "expirationIntent").
public struct ExpirationIntent: OpenValue {
    public let rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }

    public static let customerCancelled = Self(rawValue: 1)
    public static let billingError = Self(rawValue: 2)
    public static let priceIncreaseDeclined = Self(rawValue: 3)
    public static let productUnavailable = Self(rawValue: 4)
    public static let other = Self(rawValue: 5)
}

/// Whether a subscription renews automatically (Apple, "autoRenewStatus").
public struct AutoRenewStatus: OpenValue {
    public let rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }

    public static let off = Self(rawValue: 0)
    public static let on = Self(rawValue: 1)
}

/// Whether the customer agreed to a higher price (Apple, "priceIncreaseStatus").
public struct PriceIncreaseStatus: OpenValue {
    public let rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }

    public static let pending = Self(rawValue: 0)
    public static let accepted = Self(rawValue: 1)
}

/// The status of a subscription (Apple, "status").
public struct AppStoreSubscriptionStatus: OpenValue {
    public let rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }

    public static let active = Self(rawValue: 1)
    public static let expired = Self(rawValue: 2)
    public static let billingRetry = Self(rawValue: 3)
    public static let billingGracePeriod = Self(rawValue: 4)
    public static let revoked = Self(rawValue: 5)
}

/// The platform on which the app was first bought (Apple, "originalPlatform").
public struct PurchasePlatform: OpenValue {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let iOS = Self(rawValue: "iOS")
    public static let macOS = Self(rawValue: "macOS")
    public static let tvOS = Self(rawValue: "tvOS")
    public static let visionOS = Self(rawValue: "visionOS")
}

/// The customer's reason for a refund request (Apple, "consumptionRequestReason").
public struct ConsumptionRequestReason: OpenValue {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let unintendedPurchase = Self(rawValue: "UNINTENDED_PURCHASE")
    public static let fulfillmentIssue = Self(rawValue: "FULFILLMENT_ISSUE")
    public static let unsatisfiedWithPurchase = Self(rawValue: "UNSATISFIED_WITH_PURCHASE")
    public static let legal = Self(rawValue: "LEGAL")
    public static let other = Self(rawValue: "OTHER")
}

/// The type of a notification (Apple, "notificationType").
public struct NotificationType: OpenValue {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let subscribed = Self(rawValue: "SUBSCRIBED")
    public static let didChangeRenewalPreference = Self(rawValue: "DID_CHANGE_RENEWAL_PREF")
    public static let didChangeRenewalStatus = Self(rawValue: "DID_CHANGE_RENEWAL_STATUS")
    public static let offerRedeemed = Self(rawValue: "OFFER_REDEEMED")
    public static let didRenew = Self(rawValue: "DID_RENEW")
    public static let expired = Self(rawValue: "EXPIRED")
    public static let didFailToRenew = Self(rawValue: "DID_FAIL_TO_RENEW")
    public static let gracePeriodExpired = Self(rawValue: "GRACE_PERIOD_EXPIRED")
    public static let priceIncrease = Self(rawValue: "PRICE_INCREASE")
    public static let refund = Self(rawValue: "REFUND")
    public static let refundDeclined = Self(rawValue: "REFUND_DECLINED")
    public static let refundReversed = Self(rawValue: "REFUND_REVERSED")
    public static let consumptionRequest = Self(rawValue: "CONSUMPTION_REQUEST")
    public static let renewalExtended = Self(rawValue: "RENEWAL_EXTENDED")
    public static let renewalExtension = Self(rawValue: "RENEWAL_EXTENSION")
    public static let revoke = Self(rawValue: "REVOKE")
    public static let test = Self(rawValue: "TEST")
    public static let externalPurchaseToken = Self(rawValue: "EXTERNAL_PURCHASE_TOKEN")
    public static let oneTimeCharge = Self(rawValue: "ONE_TIME_CHARGE")
    public static let rescindConsent = Self(rawValue: "RESCIND_CONSENT")
    public static let metadataUpdate = Self(rawValue: "METADATA_UPDATE")
    public static let migration = Self(rawValue: "MIGRATION")
    /// The spelling of `migration` in Apple's change log.
    public static let migrate = Self(rawValue: "MIGRATE")
    public static let unclaimSeats = Self(rawValue: "UNCLAIM_SEATS")
    public static let priceChange = Self(rawValue: "PRICE_CHANGE")

    /// The type under its usual name: `MIGRATION` for `MIGRATE`.
    public var canonical: Self { self == .migrate ? .migration : self }

    /// All names of the type, its usual one first.
    public var names: [Self] { canonical == .migration ? [.migration, .migrate] : [self] }
}

/// The subtype of a notification (Apple, "subtype").
public struct NotificationSubtype: OpenValue {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let initialBuy = Self(rawValue: "INITIAL_BUY")
    public static let resubscribe = Self(rawValue: "RESUBSCRIBE")
    public static let downgrade = Self(rawValue: "DOWNGRADE")
    public static let upgrade = Self(rawValue: "UPGRADE")
    public static let autoRenewEnabled = Self(rawValue: "AUTO_RENEW_ENABLED")
    public static let autoRenewDisabled = Self(rawValue: "AUTO_RENEW_DISABLED")
    public static let voluntary = Self(rawValue: "VOLUNTARY")
    public static let billingRetry = Self(rawValue: "BILLING_RETRY")
    public static let priceIncrease = Self(rawValue: "PRICE_INCREASE")
    public static let gracePeriod = Self(rawValue: "GRACE_PERIOD")
    public static let pending = Self(rawValue: "PENDING")
    public static let accepted = Self(rawValue: "ACCEPTED")
    public static let billingRecovery = Self(rawValue: "BILLING_RECOVERY")
    public static let productNotForSale = Self(rawValue: "PRODUCT_NOT_FOR_SALE")
    public static let summary = Self(rawValue: "SUMMARY")
    public static let failure = Self(rawValue: "FAILURE")
    public static let unreported = Self(rawValue: "UNREPORTED")
    public static let activeTokenReminder = Self(rawValue: "ACTIVE_TOKEN_REMINDER")
    public static let created = Self(rawValue: "CREATED")
    public static let increaseQuantity = Self(rawValue: "INCREASE_QUANTITY")
    public static let decreaseQuantity = Self(rawValue: "DECREASE_QUANTITY")
    public static let seats = Self(rawValue: "SEATS")
}

extension String {
    /// Whether the text can be one of an open set, such as `DID_RENEW`. Being short and ASCII, it may be compared and
    /// hashed.
    var isOpenValue: Bool {
        utf8.count <= VerificationBudget.openValueBytes && utf8.allSatisfy { (0x20..<0x7F).contains($0) }
    }
}

extension String {
    /// Whether two identifiers are the same bytes, which is how they are signed and how databases compare them.
    ///
    /// `==` of `String` also equates texts that Unicode calls equivalent, such as `K` and the sign for kelvin, and
    /// takes quadratic time for hostile text.
    public func isSame(as other: String?) -> Bool {
        other.map { utf8.elementsEqual($0.utf8) } ?? false
    }
}

/// Whether the customer bought a product or has it from somebody else, in signed transactions and in receipts (Apple,
/// "inAppOwnershipType").
public struct OwnershipType: OpenValue {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let purchased = Self(rawValue: "PURCHASED")
    /// The customer has it through Family Sharing.
    public static let familyShared = Self(rawValue: "FAMILY_SHARED")
    /// A seat that another purchaser pays for.
    public static let assigned = Self(rawValue: "ASSIGNED")

    /// The type as attribute 1722 of a receipt numbers it. The raw value of a number without a known meaning is the
    /// number.
    init(receiptNumber number: UInt64) {
        self =
            switch number {
            case 0: .purchased
            case 1: .familyShared
            default: Self(rawValue: "\(number)")
            }
    }
}

/// The kind of a product, in signed transactions and in receipts (Apple, "type").
public struct ProductType: OpenValue {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let autoRenewableSubscription = Self(rawValue: "Auto-Renewable Subscription")
    public static let nonConsumable = Self(rawValue: "Non-Consumable")
    public static let consumable = Self(rawValue: "Consumable")
    public static let nonRenewingSubscription = Self(rawValue: "Non-Renewing Subscription")
    /// Only in receipts: a subscription without a price.
    public static let freeSubscription = Self(rawValue: "Free Subscription")

    /// The kind as attribute 1707 of a receipt numbers it; the numbering is inferred from names and periods of real
    /// purchases. The raw value of a number without a known meaning is the number.
    init(receiptNumber number: UInt64) {
        self =
            switch number {
            case 0: .nonConsumable
            case 1: .consumable
            case 2: .nonRenewingSubscription
            case 3: .autoRenewableSubscription
            case 4: .freeSubscription
            default: Self(rawValue: "\(number)")
            }
    }
}
