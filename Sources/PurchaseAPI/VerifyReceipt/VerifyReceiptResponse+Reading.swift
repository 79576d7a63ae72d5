extension VerifyReceiptResponse {
    /// The largest reply, in bytes. A purchase takes about 900 bytes, so this is a customer with 37,000 purchases.
    public static let largestReply = 32 << 20
    /// The most values of a reply: names count, and a purchase has about 70. They take 16 bytes each.
    private static let mostValues = 4_000_000
    /// The deepest level: a purchase is at level 3.
    private static let deepest = 16

    /// Reads a reply of Apple's, of any time: with `in_app`, flat (iOS 6 and earlier), or a status alone.
    ///
    /// Members that this type does not have are kept, and `json()` writes the reply back byte for byte.
    ///
    /// - Throws: `VerifyReceiptReplyError` if it is not a reply, or exceeds the bounds.
    public init(json: [UInt8]) throws(VerifyReceiptReplyError) {
        // Not `get()`: a throwing function with a large result can be miscompiled (Swift 6.3.1).
        switch Self.read(json) {
        case .success(let response): self = response
        case .failure(let error): throw error
        }
    }

    private static func read(_ json: [UInt8]) -> Result<VerifyReceiptResponse, VerifyReceiptReplyError> {
        let bounds = WrittenJSON.Bounds(bytes: largestReply, values: mostValues, depth: deepest)
        switch WrittenJSON.read(json, bounds: bounds) {
        case .failure(.malformed(let offset)): return .failure(.notJSON(offset: offset))
        case .failure(.tooMuch(let bound)): return .failure(.tooMuch(bound))
        case .failure(.duplicateName(let offset)): return .failure(.duplicateMember(offset: offset))
        case .success(let document):
            let reader = ReplyReader(document)
            guard let status = reader.integer("status", of: 0) else { return .failure(.noStatus) }
            var response = VerifyReceiptResponse(status: VerifyReceiptStatus(rawValue: status))
            response.read(reader)
            response.layOut(document)
            return .success(response)
        }
    }

    private mutating func read(_ reader: ReplyReader) {
        environment = reader.text("environment", of: 0)
        if let receipt = reader.object("receipt", of: 0) {
            // The flat form has the names of the purchase info.
            if reader.text("bid", of: receipt) != nil || reader.text("transaction_id", of: receipt) != nil {
                flatReceipt = FlatReceipt(reader, receipt)
            } else {
                self.receipt = Receipt(reader, receipt)
            }
        }
        if let latest = reader.object("latest_receipt_info", of: 0) {
            latestFlatReceiptInfo = FlatReceipt(reader, latest)
        }
        if let expired = reader.object("latest_expired_receipt_info", of: 0) {
            latestExpiredReceiptInfo = FlatReceipt(reader, expired)
        }
        latestReceiptInfo = reader.objects("latest_receipt_info", of: 0)?.map { InAppPurchase(reader, $0) }
        latestReceipt = reader.bytes("latest_receipt", of: 0)
        pendingRenewalInfo = reader.objects("pending_renewal_info", of: 0)?.map { PendingRenewalInfo(reader, $0) }
        if let renews = reader.flag("auto_renew_status", of: 0) {
            let product = reader.text("auto_renew_product_id", of: 0)
            flatRenewalInfo = FlatRenewalInfo(autoRenewProductID: product ?? "", autoRenews: renews)
            flatRenewalInfo?.expirationIntent = reader.integer("expiration_intent", of: 0)
            flatRenewalInfo?.isInBillingRetryPeriod = reader.flag("is_in_billing_retry_period", of: 0)
        }
        retryFlag = RetryFlag(reader)
        exception = reader.text("exception", of: 0)
    }
}

extension VerifyReceiptResponse.RetryFlag {
    /// The flag in either spelling. If both are there, a retry may help if one of them says so.
    fileprivate init?(_ reader: ReplyReader) {
        let underscore = reader.flag("is_retryable", of: 0)
        let hyphen = reader.flag("is-retryable", of: 0)
        guard underscore != nil || hyphen != nil else { return nil }
        self.init(
            underscore == true || hyphen == true,
            spelling: hyphen == nil ? .underscore : underscore == nil ? .hyphen : .both)
    }
}

extension VerifyReceiptResponse.Receipt {
    fileprivate init(_ reader: ReplyReader, _ node: Int) {
        self.init()
        receiptType = reader.text("receipt_type", of: node)
        adamID = reader.number("adam_id", of: node)
        bundleID = reader.text("bundle_id", of: node)
        applicationVersion = reader.text("application_version", of: node)
        downloadID = reader.number("download_id", of: node)
        versionExternalIdentifier = reader.number("version_external_identifier", of: node)
        receiptCreationDate = reader.date("receipt_creation_date", "receipt_creation_date_ms", of: node)
        requestDate = reader.date("request_date", "request_date_ms", of: node)
        originalPurchaseDate = reader.date("original_purchase_date", "original_purchase_date_ms", of: node)
        originalApplicationVersion = reader.text("original_application_version", of: node)
        expirationDate = reader.date("expiration_date", "expiration_date_ms", of: node)
        preorderDate = reader.date("preorder_date", "preorder_date_ms", of: node)
        inApp = (reader.objects("in_app", of: node) ?? []).map { VerifyReceiptResponse.InAppPurchase(reader, $0) }
    }
}

extension VerifyReceiptResponse.InAppPurchase {
    fileprivate init(_ reader: ReplyReader, _ node: Int) {
        self.init(
            productID: reader.text("product_id", of: node) ?? "",
            transactionID: reader.text("transaction_id", of: node) ?? "")
        quantity = reader.number("quantity", of: node)
        originalTransactionID = reader.text("original_transaction_id", of: node)
        purchaseDate = reader.date("purchase_date", "purchase_date_ms", of: node)
        originalPurchaseDate = reader.date("original_purchase_date", "original_purchase_date_ms", of: node)
        expiresDate = reader.date("expires_date", "expires_date_ms", of: node)
        cancellationDate = reader.date("cancellation_date", "cancellation_date_ms", of: node)
        cancellationReason = reader.integer("cancellation_reason", of: node)
        webOrderLineItemID = reader.number("web_order_line_item_id", of: node)
        isTrialPeriod = reader.flag("is_trial_period", of: node)
        isInIntroOfferPeriod = reader.flag("is_in_intro_offer_period", of: node)
        inAppOwnershipType = reader.text("in_app_ownership_type", of: node)
        promotionalOfferID = reader.text("promotional_offer_id", of: node)
        offerCodeRefName = reader.text("offer_code_ref_name", of: node)
        isUpgraded = reader.flag("is_upgraded", of: node) ?? false
        appAccountToken = reader.text("app_account_token", of: node)
        subscriptionGroupIdentifier = reader.text("subscription_group_identifier", of: node)
    }
}

extension VerifyReceiptResponse.PendingRenewalInfo {
    fileprivate init(_ reader: ReplyReader, _ node: Int) {
        self.init(
            productID: reader.text("product_id", of: node) ?? "",
            originalTransactionID: reader.text("original_transaction_id", of: node) ?? "",
            autoRenewProductID: reader.text("auto_renew_product_id", of: node) ?? "",
            autoRenews: reader.flag("auto_renew_status", of: node) ?? false)
        expirationIntent = reader.integer("expiration_intent", of: node)
        isInBillingRetryPeriod = reader.flag("is_in_billing_retry_period", of: node)
        gracePeriodExpiresDate = reader.date("grace_period_expires_date", "grace_period_expires_date_ms", of: node)
        isPriceConsentGiven = reader.flag("price_consent_status", of: node)
        isPriceIncreaseAccepted = reader.flag("price_increase_status", of: node)
        offerCodeRefName = reader.text("offer_code_ref_name", of: node)
        promotionalOfferID = reader.text("promotional_offer_id", of: node)
    }
}

extension FlatReceipt {
    fileprivate init(_ reader: ReplyReader, _ node: Int) {
        self.init(members: reader.texts(of: node))
    }
}

/// Why bytes are not read as a reply of `verifyReceipt`.
public enum VerifyReceiptReplyError: Error, Sendable, Equatable, CustomStringConvertible {
    /// They are not JSON, from this offset on.
    case notJSON(offset: Int)
    /// They exceed a bound; the text says which.
    case tooMuch(String)
    /// An object has two members of the same name, at this offset.
    case duplicateMember(offset: Int)
    /// They are JSON, but not an object with a `status`.
    case noStatus

    public var description: String {
        switch self {
        case .notJSON(let offset): "the reply is not JSON at byte \(offset)"
        case .tooMuch(let bound): "the reply has \(bound)"
        case .duplicateMember(let offset): "the reply has a member twice, at byte \(offset)"
        case .noStatus: "the reply has no status"
        }
    }
}
