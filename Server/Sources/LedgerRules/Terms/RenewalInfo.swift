public import PurchaseVerification

/// The content of one signed renewal info, merged as a whole.
public struct RenewalInfo: Sendable, Hashable {
    /// The product of the current period.
    public var productID: ExactText?
    /// The product of the next period.
    public var nextProductID: ExactText?
    /// `autoRenewStatus`: 1 if the subscription renews automatically.
    public var autoRenewStatus: Int64?
    /// `expirationIntent`: why the subscription ended.
    public var expirationIntent: Int64?
    public var isInBillingRetry: Bool?
    /// `priceIncreaseStatus`: 0 not answered, 1 agreed.
    public var priceIncreaseStatus: Int64?
    /// When the grace period ends.
    public var graceEnd: Timestamp?
    /// Whether a status signed beside it says that a grace period runs whose end it does not state.
    public var isGraceEndUnknown = false
    /// When the next period begins.
    public var renewalDate: Timestamp?
    public var renewalPrice: PurchasePrice?
    /// When the subscription last began without a gap.
    public var recentStart: Timestamp?
    /// The offer of the next period.
    public var offer: PurchaseOffer?
    public var accountToken: AppAccountToken?
    public var appTransactionID: ExactText?
    /// Every other signed claim, as canonical JSON.
    public var otherClaims: [UInt8]?

    /// Renewal info without content.
    public init() {}
}
