/// What `verifyReceipt` answers to a transaction receipt (iOS 6 and earlier): a flat receipt, and for auto-renewable
/// subscriptions the latest one as an object.
public struct TransactionReceiptResponse: Sendable, Equatable {
    public var status: VerifyReceiptStatus
    public var receipt: Receipt
    /// The product that the next period is of; only of auto-renewable subscriptions.
    public var autoRenewProductID: String?
    /// Written as a number, 1 or 0; only of auto-renewable subscriptions.
    public var autoRenews: Bool?
    /// The present period, where the subscription runs.
    public var latestReceiptInfo: Receipt?
    /// The receipt of the present period, in base64.
    public var latestReceipt: String?
    /// The last period, where the subscription has ended; goes with the status 21006.
    public var latestExpiredReceiptInfo: Receipt?
    /// Why it ended, 1 to 5.
    public var expirationIntent: Int?
    public var isInBillingRetryPeriod: Bool?

    public init(status: VerifyReceiptStatus, receipt: Receipt) {
        self.status = status
        self.receipt = receipt
    }

    /// The keys of `purchase-info`, with underscores.
    public struct Receipt: Sendable, Equatable {
        public var productID: String
        public var transactionID: String
        public var originalTransactionID: String?
        public var quantity: UInt64?
        public var bundleID: String?
        public var bundleVersion: String?
        public var itemID: UInt64?
        public var appItemID: UInt64?
        public var versionExternalIdentifier: UInt64?
        public var uniqueIdentifier: String?
        public var uniqueVendorIdentifier: String?
        public var purchaseDate: AppleDate?
        public var originalPurchaseDate: AppleDate?
        public var expiresDate: AppleDate?
        public var cancellationDate: AppleDate?
        public var webOrderLineItemID: UInt64?
        public var subscriptionGroupIdentifier: String?
        public var isTrialPeriod: Bool?
        public var isInIntroOfferPeriod: Bool?
        public var inAppOwnershipType: String?

        public init(productID: String, transactionID: String) {
            self.productID = productID
            self.transactionID = transactionID
        }
    }
}

extension TransactionReceiptResponse {
    /// The answer in JSON. Apple's order of keys in it follows no rule; this is the one of a recorded answer.
    public func json() -> [UInt8] {
        var json = JSONWriter(capacity: 4096 + (latestReceipt?.utf8.count ?? 0))
        json.object { json in
            json.key("receipt")
            receipt.write(to: &json)
            json.member("auto_renew_product_id", autoRenewProductID)
            if let autoRenews {
                json.key("auto_renew_status")
                json.number(autoRenews ? 1 : 0)
            }
            if let latestReceiptInfo {
                json.key("latest_receipt_info")
                latestReceiptInfo.write(to: &json)
            }
            if let latestExpiredReceiptInfo {
                json.key("latest_expired_receipt_info")
                latestExpiredReceiptInfo.write(to: &json)
            }
            json.digitsMember("expiration_intent", expirationIntent.map(UInt64.init(clamping:)))
            json.bitMember("is_in_billing_retry_period", isInBillingRetryPeriod)
            json.member("latest_receipt", latestReceipt)
            json.key("status")
            json.number(status.rawValue)
        }
        return json.bytes
    }
}

extension TransactionReceiptResponse.Receipt {
    /// Writes the object; everything in it is a string, and `expires_date` is in milliseconds.
    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.digitsMember("quantity", quantity)
            json.member("unique_vendor_identifier", uniqueVendorIdentifier)
            json.member("bvrs", bundleVersion)
            json.flagMember("is_in_intro_offer_period", isInIntroOfferPeriod)
            expiresDate?.writeTransactionReceiptExpiry(to: &json)
            json.flagMember("is_trial_period", isTrialPeriod)
            json.digitsMember("item_id", itemID)
            json.member("unique_identifier", uniqueIdentifier)
            json.member("original_transaction_id", originalTransactionID)
            json.member("subscription_group_identifier", subscriptionGroupIdentifier)
            json.digitsMember("app_item_id", appItemID)
            json.member("transaction_id", transactionID)
            json.member("in_app_ownership_type", inAppOwnershipType)
            json.digitsMember("web_order_line_item_id", webOrderLineItemID)
            json.digitsMember("version_external_identifier", versionExternalIdentifier)
            purchaseDate?.write("purchase_date", "purchase_date_ms", "purchase_date_pst", to: &json)
            json.member("product_id", productID)
            originalPurchaseDate?.write(
                "original_purchase_date", "original_purchase_date_ms", "original_purchase_date_pst", to: &json)
            cancellationDate?.write("cancellation_date", "cancellation_date_ms", "cancellation_date_pst", to: &json)
            json.member("bid", bundleID)
        }
    }
}

extension AppleDate {
    /// The end of a period as transaction receipts name it: `expires_date` in milliseconds, and two readable forms.
    fileprivate func writeTransactionReceiptExpiry(to json: inout JSONWriter) {
        json.key("expires_date")
        json.plainString { $0 += Array("\(millisecondsSince1970)".utf8) }
        json.member("expires_date_formatted", greenwich)
        json.member("expires_date_formatted_pst", losAngeles)
    }
}
