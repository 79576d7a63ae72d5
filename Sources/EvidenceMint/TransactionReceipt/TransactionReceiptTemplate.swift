public import Foundation

/// The content of a transaction receipt (iOS 6). Nothing is checked, so that wrong receipts can be made as well. A
/// field that is nil is omitted.
///
/// Each date is written two or three times: as milliseconds since 1970 and, in whole seconds, in Greenwich and in Los
/// Angeles, there with daylight saving.
public struct TransactionReceiptTemplate: Hashable, Sendable {
    @NamedField("transaction-id") public var transactionID: String?
    @NamedField("original-transaction-id") public var originalTransactionID: String?
    @NamedField("product-id") public var productID: String?
    @NamedField("bid") public var bundleID: String?
    /// The build of the app
    @NamedField("bvrs") public var bundleVersion: String?
    @NamedField("quantity") public var quantity: UInt64? = 1
    /// `purchase-date`, `purchase-date-ms` and `purchase-date-pst`, in milliseconds
    public var purchaseDate: Date?
    /// `original-purchase-date`, `original-purchase-date-ms` and `original-purchase-date-pst`, in milliseconds
    public var originalPurchaseDate: Date?
    /// `expires-date` (milliseconds), `expires-date-formatted` and `expires-date-formatted-pst`: only in subscriptions
    public var expiresDate: Date?
    /// `cancellation-date`, `cancellation-date-ms` and `cancellation-date-pst`: never seen; named like the others
    public var cancellationDate: Date?
    /// The number of the product in the App Store
    @NamedField("item-id") public var itemID: UInt64?
    /// The number of the app; absent from the sandbox since 2014
    @NamedField("app-item-id") public var appItemID: UInt64?
    /// Absent from the sandbox since 2014
    @NamedField("version-external-identifier") public var versionExternalIdentifier: UInt64?
    /// The device, as 40 hexadecimal digits or, in newer receipts, `00008110-001835EE3E41801E`
    @NamedField("unique-identifier") public var uniqueIdentifier: String?
    /// The device as the developer sees it, a UUID in capitals
    @NamedField("unique-vendor-identifier") public var uniqueVendorIdentifier: String?
    /// Only in subscriptions
    @NamedField("web-order-line-item-id") public var webOrderLineItemID: String?
    /// Only in subscriptions since 2019
    @NamedField("subscription-group-identifier") public var subscriptionGroupIdentifier: String?
    /// Since 2017
    @NamedField("is-trial-period") public var isTrialPeriod: Bool?
    /// Since 2017
    @NamedField("is-in-intro-offer-period") public var isInIntroOfferPeriod: Bool?
    /// Such as `PURCHASED`: since 2021
    @NamedField("in-app-ownership-type") public var inAppOwnershipType: String?
    /// Further entries of `purchase-info`, last, in this order.
    public var extraEntries: [Entry] = []
    /// The keys of `purchase-info` to omit. It does not affect the extra ones.
    public var omitted: Set<String> = []

    /// The unsigned `environment` beside `purchase-info`: `Sandbox`, and omitted in production
    public var environment: String?
    /// The unsigned `pod`: 100 in the sandbox
    public var pod: String? = "100"
    /// The unsigned `signing-status`
    public var signingStatus: String? = "0"

    /// A receipt with nothing in it but a quantity of 1.
    public init() {}

    /// One entry of `purchase-info`, any of them.
    public struct Entry: Hashable, Sendable {
        /// The key and its text, both without quotes.
        public var key, value: String

        public init(_ key: String, _ value: String) { (self.key, self.value) = (key, value) }
    }

    /// The bytes that the signature covers after the version byte: a property list in the old style.
    ///
    /// The keys are in the order of the genuine receipt with the same keys; if there is none, of the smallest known
    /// receipt that has all of them.
    public func purchaseInfo() -> [UInt8] {
        OldStylePropertyList.dictionary(entries().map { OldStylePropertyList.Entry($0.key, $0.value) })
    }
}

extension TransactionReceiptTemplate {
    /// The entries of `purchase-info`, in their order.
    public func entries() -> [Entry] {
        let values = values.filter { !omitted.contains($0.key) }
        return PurchaseInfoKeyOrder.sorted(values) + extraEntries
    }

    private var values: [Entry] {
        var entries = namedClaims(of: self, .wholeMilliseconds) { _ in "" }.map { claim in
            switch claim.value {
            case .string(let text): Entry(claim.name, text)
            default: Entry(claim.name, String(decoding: claim.value.json, as: UTF8.self))
            }
        }
        for (key, date) in [
            ("purchase-date", purchaseDate), ("original-purchase-date", originalPurchaseDate),
            ("cancellation-date", cancellationDate),
        ] {
            guard let date else { continue }
            entries += [
                Entry(key, Self.greenwich(date)), Entry(key + "-ms", Self.milliseconds(date)),
                Entry(key + "-pst", Self.losAngeles(date)),
            ]
        }
        if let expiresDate {
            entries += [
                Entry("expires-date", Self.milliseconds(expiresDate)),
                Entry("expires-date-formatted", Self.greenwich(expiresDate)),
                Entry("expires-date-formatted-pst", Self.losAngeles(expiresDate)),
            ]
        }
        return entries
    }

    private static func milliseconds(_ date: Date) -> String { String(date.wholeMilliseconds) }

    private static func greenwich(_ date: Date) -> String { CivilTime(date).spaced + " Etc/GMT" }

    private static func losAngeles(_ date: Date) -> String {
        // Without time zone data, Pacific Standard Time.
        let offset = pacific?.secondsFromGMT(for: date) ?? -8 * 3600
        return CivilTime(date, offset: offset).spaced + " America/Los_Angeles"
    }

    private static let pacific = TimeZone(identifier: "America/Los_Angeles")
}

extension Date {
    /// Milliseconds since 1970, rounded.
    var wholeMilliseconds: Int64 { Int64((timeIntervalSince1970 * 1000).rounded()) }
}

extension TransactionReceiptTemplate {
    /// The receipt of one purchase, with the keys that Apple writes today.
    ///
    /// The same parameters always make the same receipt; Apple's random values are derived from them.
    /// - Parameters:
    ///   - environment: `Production`, which gives the app numbers in the store; any other name is written outside of
    ///     the signed content, as `Sandbox` is.
    ///   - vendorIdentifier: the device as the developer sees it (`identifierForVendor`); nil leaves it out.
    public init(
        purchase: PurchaseTemplate, bundleID: String, bundleVersion: String = "1", environment: String = "Sandbox",
        vendorIdentifier: UUID? = nil
    ) {
        let isProduction = environment == "Production"
        transactionID = purchase.transactionID
        originalTransactionID = purchase.originalTransactionID
        productID = purchase.productID
        (self.bundleID, self.bundleVersion) = (bundleID, bundleVersion)
        quantity = purchase.quantity
        purchaseDate = purchase.purchaseDate
        originalPurchaseDate = purchase.originalPurchaseDate
        expiresDate = purchase.expiresDate
        cancellationDate = purchase.cancellationDate
        itemID = purchase.productAdamID.flatMap { $0 == 0 ? nil : $0 } ?? 1_612_000_001
        if isProduction {
            appItemID = 1_234_567_890
            versionExternalIdentifier = 870_000_001
            pod = "43"
        } else {
            self.environment = environment
        }
        let seed = Array("unique identifier|\(vendorIdentifier?.uuidString ?? bundleID)".utf8)
        uniqueIdentifier = ReceiptDigest.sha1.hash(seed).map { Int($0).hexadecimal(2) }.joined()
        uniqueVendorIdentifier = vendorIdentifier?.uuidString
        if expiresDate != nil {
            webOrderLineItemID = purchase.webOrderLineItemID.map(String.init)
            subscriptionGroupIdentifier = "20749162"
        }
        isTrialPeriod = purchase.isTrialPeriod
        isInIntroOfferPeriod = purchase.isInIntroOfferPeriod ?? false
        inAppOwnershipType = purchase.ownershipType.map { $0 == .familyShared ? "FAMILY_SHARED" : "PURCHASED" }
    }
}

extension Int {
    fileprivate func hexadecimal(_ width: Int) -> String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
    }
}
