/// The answer of `verifyReceipt` to an app receipt (Apple, "responseBody").
public struct VerifyReceiptResponse: Sendable, Equatable {
    public var status: VerifyReceiptStatus
    /// `Production` or `Sandbox`.
    public var environment: String?
    public var receipt: Receipt?
    public var latestReceiptInfo: [InAppPurchase]?
    /// The receipt of an answer to a transaction receipt, instead of `receipt`.
    public var flatReceipt: FlatReceipt?
    /// The latest period of a transaction receipt's subscription, instead of `latestReceiptInfo`.
    public var latestFlatReceiptInfo: FlatReceipt?
    /// The last period of a transaction receipt's subscription that has expired.
    public var latestExpiredReceiptInfo: FlatReceipt?
    /// The expected renewal of a transaction receipt's subscription, instead of `pendingRenewalInfo`.
    public var flatRenewalInfo: FlatRenewalInfo?
    /// The latest receipt in base64, as the bytes of its text.
    public var latestReceipt: [UInt8]?
    /// The expected renewals of the subscriptions.
    public var pendingRenewalInfo: [PendingRenewalInfo]?
    /// Whether a retry may help. Apple writes it only with its own errors.
    public var retryFlag: RetryFlag?
    /// The name of an error in Apple's servers; goes with the retry flag.
    public var exception: String?
    /// How the reply was written, if it was read.
    private var layout: JSONLayout?

    public init(status: VerifyReceiptStatus) { self.status = status }

    /// The paths of what a reply has and this type does not, such as `receipt.in_app[0].name`, of at most 100: unknown
    /// members, and values that Apple does not write, such as a date whose three forms disagree. Empty if the value was
    /// not read.
    public var unreadMembers: [String] { layout?.unreadPaths ?? [] }

    /// Keeps how the reply was written.
    mutating func layOut(_ source: WrittenJSON) {
        // The writer's JSON can always be read.
        guard case .success(let written) = WrittenJSON.read(typedJSON()) else { return }
        layout = JSONLayout(of: source, written: written)
    }

    /// `responseBody.Receipt`.
    public struct Receipt: Sendable, Equatable {
        public var receiptType: String?
        public var adamID: UInt64?
        public var bundleID: String?
        public var applicationVersion: String?
        public var downloadID: UInt64?
        public var versionExternalIdentifier: UInt64?
        public var receiptCreationDate: AppleDate?
        public var requestDate: AppleDate?
        public var originalPurchaseDate: AppleDate?
        public var originalApplicationVersion: String?
        public var expirationDate: AppleDate?
        public var preorderDate: AppleDate?
        public var inApp: [InAppPurchase] = []
        /// Whether numbers that are not known are written as `null`, as Apple writes them of a receipt.
        public var writesUnknownNumbers = true

        public init() {}
    }

    /// `responseBody.Receipt.In_app`, and the same in `responseBody.Latest_receipt_info`.
    public struct InAppPurchase: Sendable, Equatable {
        public var quantity: UInt64?
        /// Empty if a reply lacks it.
        public var productID: String
        /// Empty if a reply lacks it.
        public var transactionID: String
        public var originalTransactionID: String?
        public var purchaseDate: AppleDate?
        public var originalPurchaseDate: AppleDate?
        public var expiresDate: AppleDate?
        public var cancellationDate: AppleDate?
        public var webOrderLineItemID: UInt64?
        public var isTrialPeriod: Bool?
        public var isInIntroOfferPeriod: Bool?
        /// `PURCHASED` or `FAMILY_SHARED`.
        public var inAppOwnershipType: String?
        public var promotionalOfferID: String?
        /// Fields that only the App Store knows, and no receipt has.
        public var subscriptionGroupIdentifier: String?
        /// 1 for a problem with the app, 0 for anything else; goes with the cancellation date.
        public var cancellationReason: Int?
        /// Written only if it is true.
        public var isUpgraded = false
        public var offerCodeRefName: String?
        public var appAccountToken: String?

        public init(productID: String, transactionID: String) {
            (self.productID, self.transactionID) = (productID, transactionID)
        }
    }
}

extension VerifyReceiptResponse {
    /// The answer in JSON. A reply that was read is written as it came; another has the keys in Apple's order since
    /// late 2020.
    public func json() -> [UInt8] {
        let json = typedJSON()
        guard let layout, case .success(let written) = WrittenJSON.read(json) else { return json }
        return layout.arranged(written)
    }

    private func typedJSON() -> [UInt8] {
        // A purchase takes some 900 bytes.
        let purchases = (receipt?.inApp.count ?? 0) + (latestReceiptInfo?.count ?? 0)
        var json = JSONWriter(capacity: 1200 + purchases * 1000 + (latestReceipt?.count ?? 0))
        json.object { json in
            if let environment { json.member("environment", environment) }
            var written = WrittenPurchases()
            if let receipt {
                json.key("receipt")
                receipt.write(to: &json, &written)
            }
            if let flatReceipt {
                json.key("receipt")
                flatReceipt.write(to: &json)
            }
            flatRenewalInfo?.write(to: &json)
            if let latestFlatReceiptInfo {
                json.key("latest_receipt_info")
                latestFlatReceiptInfo.write(to: &json)
            }
            if let latestExpiredReceiptInfo {
                json.key("latest_expired_receipt_info")
                latestExpiredReceiptInfo.write(to: &json)
            }
            if let latestReceiptInfo {
                json.key("latest_receipt_info")
                json.array(latestReceiptInfo) { json, purchase in
                    if let range = written.range(of: purchase) {
                        json.again(range)
                    } else {
                        purchase.write(to: &json)
                    }
                }
            }
            if let latestReceipt {
                json.key("latest_receipt")
                json.string(utf8: latestReceipt)
            }
            if let pendingRenewalInfo {
                json.key("pending_renewal_info")
                json.array(pendingRenewalInfo) { $1.write(to: &$0) }
            }
            json.key("status")
            json.number(status.rawValue)
            retryFlag?.write(to: &json)
            json.member("exception", exception)
        }
        return json.bytes
    }
}

extension VerifyReceiptResponse.Receipt {
    /// Writes the object with the keys in Apple's order; numbers that the receipt lacks are `null`, as Apple writes
    /// them.
    public func write(to json: inout JSONWriter) {
        var written = WrittenPurchases()
        write(to: &json, &written)
    }

    fileprivate func write(to json: inout JSONWriter, _ written: inout WrittenPurchases) {
        json.object { json in
            json.member("receipt_type", receiptType)
            if writesUnknownNumbers || adamID != nil {
                json.numberMember("adam_id", adamID)
                json.numberMember("app_item_id", adamID)
            }
            json.member("bundle_id", bundleID)
            json.member("application_version", applicationVersion)
            if writesUnknownNumbers || downloadID != nil { json.numberMember("download_id", downloadID) }
            if writesUnknownNumbers || versionExternalIdentifier != nil {
                json.numberMember("version_external_identifier", versionExternalIdentifier)
            }
            receiptCreationDate?.write(
                "receipt_creation_date", "receipt_creation_date_ms", "receipt_creation_date_pst", to: &json)
            requestDate?.write("request_date", "request_date_ms", "request_date_pst", to: &json)
            originalPurchaseDate?.write(
                "original_purchase_date", "original_purchase_date_ms", "original_purchase_date_pst", to: &json)
            json.member("original_application_version", originalApplicationVersion)
            expirationDate?.write("expiration_date", "expiration_date_ms", "expiration_date_pst", to: &json)
            preorderDate?.write("preorder_date", "preorder_date_ms", "preorder_date_pst", to: &json)
            json.key("in_app")
            json.array(inApp) { json, purchase in
                let start = json.bytes.count
                purchase.write(to: &json)
                written.add(purchase, start..<json.bytes.count)
            }
        }
    }
}

extension VerifyReceiptResponse.InAppPurchase {
    /// Writes the object with the keys in Apple's order; everything in it is a string.
    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.digitsMember("quantity", quantity)
            json.member("product_id", productID)
            json.member("transaction_id", transactionID)
            json.member("original_transaction_id", originalTransactionID)
            purchaseDate?.write("purchase_date", "purchase_date_ms", "purchase_date_pst", to: &json)
            originalPurchaseDate?.write(
                "original_purchase_date", "original_purchase_date_ms", "original_purchase_date_pst", to: &json)
            expiresDate?.write("expires_date", "expires_date_ms", "expires_date_pst", to: &json)
            cancellationDate?.write(
                "cancellation_date", "cancellation_date_ms", "cancellation_date_pst", to: &json)
            json.digitsMember("cancellation_reason", cancellationReason.map(UInt64.init(clamping:)))
            json.digitsMember("web_order_line_item_id", webOrderLineItemID)
            json.flagMember("is_trial_period", isTrialPeriod)
            json.flagMember("is_in_intro_offer_period", isInIntroOfferPeriod)
            json.member("promotional_offer_id", promotionalOfferID)
            json.member("in_app_ownership_type", inAppOwnershipType)
            json.member("offer_code_ref_name", offerCodeRefName)
            if isUpgraded { json.flagMember("is_upgraded", true) }
            json.member("app_account_token", appAccountToken)
            json.member("subscription_group_identifier", subscriptionGroupIdentifier)
        }
    }
}

/// The position of a purchase that was already written: `latest_receipt_info` nearly always repeats those of `in_app`.
private struct WrittenPurchases {
    private var purchases: [(purchase: VerifyReceiptResponse.InAppPurchase, range: Range<Int>)] = []
    private var positions: [String: Int] = [:]

    mutating func add(_ purchase: VerifyReceiptResponse.InAppPurchase, _ range: Range<Int>) {
        positions[purchase.transactionID] = purchases.count
        purchases.append((purchase, range))
    }

    /// The range of a purchase that is the same in every member.
    func range(of purchase: VerifyReceiptResponse.InAppPurchase) -> Range<Int>? {
        guard let position = positions[purchase.transactionID], purchases[position].purchase == purchase else {
            return nil
        }
        return purchases[position].range
    }
}

/// The two flags of `verifyReceipt` about the offer of a period, derived from the offer that the App Store names
/// elsewhere.
public struct OfferFlags: Sendable, Equatable {
    /// `is_trial_period`: the period is free, under an offer of any kind.
    public let isTrialPeriod: Bool
    /// `is_in_intro_offer_period`: the period has an introductory offer that is paid; since late 2024, also a free
    /// trial.
    public let isInIntroOfferPeriod: Bool

    /// - Parameters:
    ///   - isIntroductory: whether the offer is the introductory one.
    ///   - isFree: whether it costs nothing (`FREE_TRIAL`).
    ///   - purchaseDate: when the period was bought, in milliseconds since 1970.
    public init(isIntroductory: Bool, isFree: Bool, purchaseDate: Int64) {
        isTrialPeriod = isFree
        isInIntroOfferPeriod = isFree ? purchaseDate >= Self.trialsAreIntroductorySince : isIntroductory
    }

    /// 2024-07-01. The last recorded free trial without the flag is of March 2024, the first one with it of
    /// November 2024.
    static let trialsAreIntroductorySince: Int64 = 1_719_792_000_000
}
