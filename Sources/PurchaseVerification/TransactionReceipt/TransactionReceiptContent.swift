/// A transaction receipt that the verifier vouches for. Only `PurchaseVerifier` makes one, so to hold one is the proof.
public typealias TransactionReceipt = TransactionReceiptContent<Verified>

/// The same content, read from bytes that nobody vouches for: for showing, never for granting. Only `inspect` makes one.
public typealias UnverifiedTransactionReceipt = TransactionReceiptContent<Unverified>

/// What a receipt of the iOS 6 kind says of its one purchase (docs/receipt-format.md). The parameter tells whether it was
/// verified; there is no public initialiser.
public struct TransactionReceiptContent<Trust>: Sendable {
    private let info: PurchaseInfo
    /// The version of the signature.
    public let version: TransactionReceiptVersion
    /// Where the purchase was made: what the transaction's number says, and then what is stated beside the signed part.
    public let environment: AppStoreEnvironment?

    init(_ info: PurchaseInfo, version: TransactionReceiptVersion, unsignedEnvironment: String?) {
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
    public var bundleVersion: String? { info.list.text("bvrs") }

    /// How many were bought (`quantity`).
    public var quantity: UInt64? { info.quantity }

    /// When it was bought or renewed; the signing certificate is judged at this moment (`purchase-date-ms`).
    public var purchaseDate: Timestamp { info.purchaseDate }

    /// When it was first bought (`original-purchase-date-ms`).
    public var originalPurchaseDate: Timestamp? { info.originalPurchaseDate }

    /// When the paid period ends; only of auto-renewable subscriptions (`expires-date`).
    public var expiresDate: Timestamp? { info.expiresDate }

    /// When Apple took the purchase back (`cancellation-date-ms`).
    public var cancellationDate: Timestamp? { info.cancellationDate }

    /// The App Store's number of the product (`item-id`).
    public var itemID: UInt64? { number("item-id") }

    /// The App Store's number of the app; absent in most receipts of the sandbox (`app-item-id`).
    public var appItemID: UInt64? { number("app-item-id") }

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

    /// `PURCHASED` or `FAMILY_SHARED` (`in-app-ownership-type`).
    public var ownershipType: String? { info.list.text("in-app-ownership-type") }

    /// Every signed key with its value, in the order of the receipt, known or not.
    public var attributes: [(key: String, value: String)] {
        info.list.entries.map { (info.list.text($0.key), info.list.text($0.value)) }
    }

    private func number(_ key: StaticString) -> UInt64? {
        let bytes = info.list.bytes
        return info.list.value(key).flatMap { PurchaseInfo.number(bytes.span, $0) }
    }

    private func flag(_ key: StaticString) -> Bool? {
        switch info.list.text(key) {
        case "true": true
        case "false": false
        default: nil
        }
    }
}

extension TransactionReceiptContent: Equatable {
    /// Two receipts are equal if they say the same: their signed bytes and the version that is signed with them.
    public static func == (left: TransactionReceiptContent, right: TransactionReceiptContent) -> Bool {
        left.version == right.version && left.info.list.bytes == right.info.list.bytes
            && left.environment == right.environment
    }
}

/// How the sandbox numbers its transactions: sixteen digits that begin with 1000000 or 2000000.
///
/// A transaction receipt says that it comes from the sandbox only outside of what is signed, and signed data of 2021 does not
/// say it at all. The number is signed. All 1,218 sandbox transactions that were looked at have this form, and no genuine
/// one of production (docs/decisions.md, 22); so what has it is the sandbox's, whatever is written beside it.
enum SandboxIdentifier {
    /// 2012-06-01T00:00:00Z. Receipts of the sandbox state their environment since then; Apple answered older ones, of which
    /// nobody can make new ones, like those of production.
    private static let firstStatement = Timestamp(millisecondsSince1970: 1_338_508_800_000)

    /// The environment of what states it only where nobody signs it.
    static func environment(transactionID: String?, unsigned: String?, at moment: Timestamp?) -> AppStoreEnvironment {
        let isDated = moment.map { $0 >= firstStatement } ?? true
        if isDated, transactionID.map(isSandbox) == true, unsigned == nil || unsigned == "Production" {
            return .sandbox
        }
        return unsigned.map { AppStoreEnvironment($0) } ?? .production
    }

    private static func isSandbox(_ transactionID: String) -> Bool {
        let digits = transactionID.utf8
        guard digits.count == 16, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return false
        }
        guard let first = digits.first, first == UInt8(ascii: "1") || first == UInt8(ascii: "2") else { return false }
        return digits.dropFirst().prefix(6).allSatisfy { $0 == UInt8(ascii: "0") }
    }
}
