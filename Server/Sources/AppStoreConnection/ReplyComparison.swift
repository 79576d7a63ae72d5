public import PurchaseAPI

/// Compares a reply of `verifyReceipt` with what the receipt itself proves. Status 0 alone proves nothing: a reply can
/// belong to another receipt, or have been edited on its way.
public struct ReplyComparison: Sendable {
    /// The differences, at most `most`.
    public private(set) var contradictions: [Contradiction] = []

    /// One difference is enough to refuse; more are for people.
    private static let most = 20

    /// A field in which the reply and the receipt differ.
    public struct Contradiction: Sendable {
        /// The place in the reply, such as `receipt.in_app[0].product_id`.
        public let path: String
        /// The value that the receipt proves; `nil` for none.
        public let proven: String?
        /// The value of the reply; `nil` for none. It is text from outside, of any length.
        public let replied: String?
    }

    /// Compares the reply to an app receipt.
    ///
    /// - Parameters:
    ///   - reply: the reply.
    ///   - environment: the name of the receipt's environment.
    ///   - proven: the content of the receipt, in Apple's words.
    public init(_ reply: VerifyReceiptResponse, environment: String?, proven: VerifyReceiptResponse.Receipt) {
        compareEnvironment(reply, environment)
        guard let receipt = reply.receipt else {
            add("receipt", "an app receipt", nil)
            return
        }
        compare("receipt.receipt_type", proven.receiptType, receipt.receiptType)
        compare("receipt.bundle_id", proven.bundleID, receipt.bundleID)
        compare("receipt.application_version", proven.applicationVersion, receipt.applicationVersion)
        compare("receipt.adam_id", proven.adamID.map(String.init), receipt.adamID.map(String.init))
        compare(
            "receipt.original_application_version", proven.originalApplicationVersion,
            receipt.originalApplicationVersion)
        comparePurchases(receipt.inApp, proven.inApp)
        // It is newer than the receipt, so only fields that never change can be compared.
        let byTransaction = Self.index(proven.inApp)
        for (position, latest) in (reply.latestReceiptInfo ?? []).enumerated() {
            guard let purchase = byTransaction[Array(latest.transactionID.utf8)] else { continue }
            let path = "latest_receipt_info[\(position)]"
            for field in purchase.lastingFields { compare("\(path).\(field.name)", field.value, latest.value(field)) }
        }
    }

    /// Compares the reply to a transaction receipt: every field of the purchase info.
    ///
    /// - Parameters:
    ///   - reply: the reply.
    ///   - environment: the name of the receipt's environment.
    ///   - proven: the content of the receipt, in Apple's words.
    public init(_ reply: VerifyReceiptResponse, environment: String?, proven: FlatReceipt) {
        compareEnvironment(reply, environment)
        guard let receipt = reply.flatReceipt else {
            add("receipt", "a transaction receipt", nil)
            return
        }
        var replied: [[UInt8]: String] = [:]
        for member in receipt.members { replied[Array(member.key.utf8)] = member.value }
        for member in proven.members {
            compare("receipt.\(member.key)", member.value, replied[Array(member.key.utf8)])
        }
    }

    private mutating func compareEnvironment(_ reply: VerifyReceiptResponse, _ proven: String?) {
        // Replies to old transaction receipts do not name it.
        guard reply.environment != nil else { return }
        compare("environment", proven, reply.environment)
    }

    /// The purchases of the reply are those of the receipt, each once.
    private mutating func comparePurchases(
        _ replied: [VerifyReceiptResponse.InAppPurchase], _ proven: [VerifyReceiptResponse.InAppPurchase]
    ) {
        var left = Self.index(proven)
        for (position, purchase) in replied.enumerated() {
            let path = "receipt.in_app[\(position)]"
            guard let expected = left.removeValue(forKey: Array(purchase.transactionID.utf8)) else {
                add("\(path).transaction_id", nil, purchase.transactionID)
                continue
            }
            for field in expected.fields { compare("\(path).\(field.name)", field.value, purchase.value(field)) }
            // Only subscriptions have an end, and their receipts prove it.
            if expected.expiresDate == nil, let end = purchase.expiresDate {
                add("\(path).expires_date", nil, end.greenwich)
            }
        }
        for purchase in left.values { add("receipt.in_app", purchase.transactionID, nil) }
    }

    /// By the bytes of the transaction: strings are hashed after Unicode normalisation.
    private static func index(
        _ purchases: [VerifyReceiptResponse.InAppPurchase]
    ) -> [[UInt8]: VerifyReceiptResponse.InAppPurchase] {
        Dictionary(purchases.map { (Array($0.transactionID.utf8), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The reply may add fields that the receipt does not have.
    private mutating func compare(_ path: String, _ proven: String?, _ replied: String?) {
        guard let proven else { return }
        if let replied, replied.utf8.elementsEqual(proven.utf8) { return }
        add(path, proven, replied)
    }

    private mutating func add(_ path: String, _ proven: String?, _ replied: String?) {
        guard contradictions.count < Self.most else { return }
        contradictions.append(Contradiction(path: path, proven: proven, replied: replied))
    }
}

private struct PurchaseField {
    let name: String
    let value: String?
    let read: @Sendable (VerifyReceiptResponse.InAppPurchase) -> String?
}

extension VerifyReceiptResponse.InAppPurchase {
    fileprivate func value(_ field: PurchaseField) -> String? { field.read(self) }

    private func field(
        _ name: String, _ read: @escaping @Sendable (VerifyReceiptResponse.InAppPurchase) -> String?
    ) -> PurchaseField {
        PurchaseField(name: name, value: read(self), read: read)
    }

    /// The fields that later events do not change.
    fileprivate var lastingFields: [PurchaseField] {
        [
            field("product_id") { $0.productID },
            field("original_transaction_id") { $0.originalTransactionID },
            field("quantity") { $0.quantity.map(String.init) },
            field("purchase_date") { $0.purchaseDate?.greenwich },
            field("original_purchase_date") { $0.originalPurchaseDate?.greenwich },
        ]
    }

    /// All fields that a receipt proves.
    fileprivate var fields: [PurchaseField] {
        lastingFields + [
            field("expires_date") { $0.expiresDate?.greenwich },
            field("web_order_line_item_id") { $0.webOrderLineItemID.map(String.init) },
            field("is_trial_period") { $0.isTrialPeriod.map { "\($0)" } },
            field("is_in_intro_offer_period") { $0.isInIntroOfferPeriod.map { "\($0)" } },
            field("in_app_ownership_type") { $0.inAppOwnershipType },
            field("promotional_offer_id") { $0.promotionalOfferID },
        ]
    }
}
