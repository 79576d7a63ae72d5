/// The form in which Apple wrote answers in a year, as far as recorded answers show it (docs/drop-in.md).
public struct VerifyReceiptForm: Sendable, Hashable {
    /// The years that can be chosen.
    public static let years: ClosedRange<Int> = 2013...2026
    /// The form of today.
    public static let newest = VerifyReceiptForm(year: 2026)

    /// The year.
    public let year: Int

    /// The form of a year.
    public init(year: Int) { self.year = year }

    /// Whether `status` is the last member; in the years before it was the first.
    public var endsWithStatus: Bool { year >= 2021 }
    /// Whether receipts without a subscription have `latest_receipt_info` and `latest_receipt`.
    public var alwaysHasLatestReceipt: Bool { year >= 2021 }
    /// Whether `latest_receipt_info` begins with the newest purchase.
    public var beginsWithNewest: Bool { year >= 2021 }
    /// Whether purchases have `in_app_ownership_type`, since December 2020.
    public var hasOwnershipType: Bool { year >= 2021 }
    /// Whether subscriptions have `subscription_group_identifier`.
    public var hasSubscriptionGroup: Bool { year >= 2019 }
    /// Whether subscriptions have `is_in_intro_offer_period`.
    public var hasIntroductoryFlag: Bool { year >= 2018 }
    /// Whether there is `pending_renewal_info`. Three of nine answers of 2014 to 2017 have it.
    public var hasPendingRenewalInfo: Bool { year >= 2017 }
    /// Whether an expected renewal names its original transaction.
    public var hasOriginalOfRenewal: Bool { year >= 2018 }
    /// Whether that comes before `is_in_billing_retry_period`.
    public var namesOriginalEarly: Bool { (2018...2020).contains(year) }
    /// Whether an expected renewal has `price_increase_status`.
    public var hasPriceIncreaseStatus: Bool { year >= 2022 }
}
