public import PurchaseVerification

/// A commitment to several payments of a subscription, as the App Store signed it (`commitmentInfo`). It is shown, and
/// decides nothing.
public struct RenewalCommitment: Sendable, Hashable {
    /// The number of the billing period, from 1 (`billingPeriodNumber`).
    public var period: Int64?
    /// The billing periods of the commitment (`totalBillingPeriods`).
    public var periods: Int64?
    /// When the commitment ends (`commitmentExpiresDate`).
    public var until: Timestamp?
    /// Whether another commitment follows (`commitmentAutoRenewStatus`).
    public var renews: Bool?

    /// A commitment without members.
    init() {}
}
