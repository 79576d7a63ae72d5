// The content of a transaction receipt, verified and unverified.

/// A transaction receipt that the verifier vouches for. Only `PurchaseVerifier` creates one.
public typealias TransactionReceipt = TransactionReceiptContent<VerifiedContent>

/// The same content, read from unverified bytes: for display, never for granting. Only `inspect` creates one.
public typealias UnverifiedTransactionReceipt = TransactionReceiptContent<UnverifiedContent>

/// The content of a transaction receipt of iOS 6, with its one purchase (docs/receipt-format.md). The type parameter
/// says whether it was verified; there is no public initialiser.
public struct TransactionReceiptContent<Trust>: Sendable {
    private let info: PurchaseInfo
    /// The version of the signature.
    public let version: TransactionReceiptVersion
    /// The environment of the purchase: according to the transaction id first, then to the unsigned part.
    public let environment: AppStoreEnvironment?

    init(_ info: PurchaseInfo, version: TransactionReceiptVersion, unsignedEnvironment: AppStoreEnvironment?) {
        self.info = info
        self.version = version
        environment = SandboxIdentifier.environment(
            transactionID: info.transactionID, unsigned: unsignedEnvironment, at: info.purchaseDate)
    }

    /// The transaction (`transaction-id`).
    public var transactionID: String { info.transactionID }

    /// The first transaction of a subscription or of a restored product (`original-transaction-id`).
    public var originalTransactionID: String? { info.list.text("original-transaction-id") }

    /// The product (`product-id`).
    public var productID: String { info.list.text("product-id") ?? "" }

    /// The bundle id of the app (`bid`).
    public var bundleID: String? { info.list.text("bid") }

    /// The version of the app (`bvrs`).
    public var applicationVersion: String? { info.list.text("bvrs") }

    /// The quantity (`quantity`).
    public var quantity: UInt64? { info.quantity }

    /// The date of the purchase or renewal, at which the validity of the signing certificate is checked
    /// (`purchase-date-ms`).
    public var purchaseDate: AppStoreTime { info.purchaseDate }

    /// When it was first bought (`original-purchase-date-ms`).
    public var originalPurchaseDate: AppStoreTime? { info.originalPurchaseDate }

    /// When the paid period ends; only for auto-renewable subscriptions (`expires-date`).
    public var expiresDate: AppStoreTime? { info.expiresDate }

    /// When Apple refunded or revoked the purchase, or an upgrade ended it (`cancellation-date-ms`).
    public var cancellationDate: AppStoreTime? { info.cancellationDate }

    /// The App Store's number of the product (`item-id`).
    public var productAppleID: UInt64? { number("item-id") }

    /// The App Store's number of the app; absent in most receipts of the sandbox (`app-item-id`).
    public var appAppleID: UInt64? { number("app-item-id") }

    /// The App Store's number of the app's version (`version-external-identifier`).
    public var versionExternalIdentifier: UInt64? { number("version-external-identifier") }

    /// The order line of a subscription period (`web-order-line-item-id`).
    public var webOrderLineItemID: String? { info.list.text("web-order-line-item-id") }

    /// The group of the subscription (`subscription-group-identifier`).
    public var subscriptionGroupIdentifier: String? { info.list.text("subscription-group-identifier") }

    /// The device, as its UDID (`unique-identifier`).
    public var uniqueIdentifier: String? { info.list.text("unique-identifier") }

    /// The device, as the vendor's identifier of it (`unique-vendor-identifier`).
    public var uniqueVendorIdentifier: String? { info.list.text("unique-vendor-identifier") }

    /// Whether the period is a free trial (`is-trial-period`).
    public var isTrialPeriod: Bool? { flag("is-trial-period") }

    /// Whether the period has an introductory price (`is-in-intro-offer-period`).
    public var isInIntroOfferPeriod: Bool? { flag("is-in-intro-offer-period") }

    /// Whether it was bought or comes through Family Sharing (`in-app-ownership-type`).
    public var ownershipType: OwnershipType? {
        info.list.text("in-app-ownership-type").flatMap { $0.isOpenValue ? OwnershipType(rawValue: $0) : nil }
    }

    /// Every signed key with its value, in the order of the receipt, known or not.
    public var attributes: [(key: String, value: String)] {
        info.list.entries.map { (info.list.text($0.key), info.list.text($0.value)) }
    }

    private func number(_ key: StaticString) -> UInt64? {
        info.list.value(key).flatMap(info.list.number)
    }

    private func flag(_ key: StaticString) -> Bool? {
        guard let value = info.list.value(key) else { return nil }
        if info.list.holds("true", at: value) { return true }
        return info.list.holds("false", at: value) ? false : nil
    }
}

extension TransactionReceiptContent: Equatable {
    /// Two receipts are equal if their signed bytes and the signed version are equal.
    public static func == (left: TransactionReceiptContent, right: TransactionReceiptContent) -> Bool {
        left.version == right.version && left.info.list.bytes == right.info.list.bytes
            && left.environment == right.environment
    }
}

/// The format of transaction ids in the sandbox: sixteen digits, the first of which is 1 or 2. Ids of production have
/// other lengths.
///
/// The environment in a transaction receipt is unsigned, and signed payloads of 2021 do not state it at all. The
/// transaction id is signed, so it decides, even against the unsigned environment (docs/decisions.md, 22).
enum SandboxIdentifier {
    /// 2012-06-01T00:00:00Z. Receipts of the sandbox state their environment since then. Apple answered older ones like
    /// those of production, and nobody can make new ones, because the date is signed.
    private static let firstStatement = AppStoreTime(millisecondsSince1970: 1_338_508_800_000)

    /// The environment of evidence that does not state it, or states it only in an unsigned part.
    static func environment(
        transactionID: String?, unsigned: AppStoreEnvironment?, at moment: AppStoreTime?
    ) -> AppStoreEnvironment {
        let stated = unsigned ?? .production
        guard stated == .production, moment.map({ $0 >= firstStatement }) ?? true else { return stated }
        return transactionID.map(isSandbox) == true ? .sandbox : .production
    }

    private static func isSandbox(_ transactionID: String) -> Bool {
        let digits = transactionID.utf8
        guard digits.count == 16, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return false
        }
        return digits.first == UInt8(ascii: "1") || digits.first == UInt8(ascii: "2")
    }
}
