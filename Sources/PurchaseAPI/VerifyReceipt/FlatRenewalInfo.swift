/// The expected renewal of the subscription of a transaction receipt: members of the answer itself (iOS 6 and earlier).
public struct FlatRenewalInfo: Sendable, Equatable {
    /// Empty if a reply lacks it.
    public var autoRenewProductID: String
    /// Written as a number, 1 or 0.
    public var autoRenews: Bool
    /// The reason why it ended, 1 to 5; absent while it is active.
    public var expirationIntent: Int?
    /// Whether the store is still trying to collect the price; only after a failed attempt.
    public var isInBillingRetryPeriod: Bool?

    public init(autoRenewProductID: String, autoRenews: Bool) {
        self.autoRenewProductID = autoRenewProductID
        self.autoRenews = autoRenews
    }

    /// Writes the members.
    func write(to json: inout JSONWriter) {
        json.member("auto_renew_product_id", autoRenewProductID)
        json.key("auto_renew_status")
        json.number(autoRenews ? 1 : 0)
        json.digitsMember("expiration_intent", expirationIntent.map(UInt64.init(clamping:)))
        json.bitMember("is_in_billing_retry_period", isInBillingRetryPeriod)
    }
}
