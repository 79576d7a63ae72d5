extension VerifyReceiptResponse {
    /// The expected renewal of a subscription at the end of its period (Apple, "responseBody.Pending_renewal_info").
    public struct PendingRenewalInfo: Sendable, Equatable {
        public var productID: String
        public var originalTransactionID: String
        public var autoRenewProductID: String
        public var autoRenews: Bool
        /// The reason why it ended, 1 to 5; absent while it is active.
        public var expirationIntent: Int?
        /// Whether the store is still trying to collect the price; only after a failed attempt.
        public var isInBillingRetryPeriod: Bool?
        public var gracePeriodExpiresDate: AppleDate?
        /// Whether the customer agreed to a higher price; only if they were asked.
        public var isPriceConsentGiven: Bool?
        /// Whether the higher price applies: they agreed, or did not need to.
        public var isPriceIncreaseAccepted: Bool?
        public var offerCodeRefName: String?
        public var promotionalOfferID: String?

        public init(productID: String, originalTransactionID: String, autoRenewProductID: String, autoRenews: Bool) {
            (self.productID, self.originalTransactionID) = (productID, originalTransactionID)
            (self.autoRenewProductID, self.autoRenews) = (autoRenewProductID, autoRenews)
        }
    }
}

extension VerifyReceiptResponse.PendingRenewalInfo {
    /// Writes the object with the keys in Apple's order; everything in it is a string.
    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.digitsMember("expiration_intent", expirationIntent.map(UInt64.init(clamping:)))
            gracePeriodExpiresDate?.write(
                "grace_period_expires_date", "grace_period_expires_date_ms", "grace_period_expires_date_pst", to: &json)
            json.member("auto_renew_product_id", autoRenewProductID)
            json.bitMember("is_in_billing_retry_period", isInBillingRetryPeriod)
            json.member("offer_code_ref_name", offerCodeRefName)
            json.member("product_id", productID)
            json.member("original_transaction_id", originalTransactionID)
            json.member("promotional_offer_id", promotionalOfferID)
            json.bitMember("price_consent_status", isPriceConsentGiven)
            json.bitMember("price_increase_status", isPriceIncreaseAccepted)
            json.bitMember("auto_renew_status", autoRenews)
        }
    }
}
