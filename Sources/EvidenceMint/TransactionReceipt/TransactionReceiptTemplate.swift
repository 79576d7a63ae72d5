public import Foundation

/// The content of a transaction receipt (iOS 6). Nothing is checked, so that wrong receipts can be made as well. A
/// field that is nil is omitted.
///
/// Each date is written two or three times: as milliseconds since 1970 and, in whole seconds, in Greenwich and in Los
/// Angeles, there with daylight saving.
public struct TransactionReceiptTemplate: Hashable, Sendable {
    /// `transaction-id`
    public var transactionID: String?
    /// `original-transaction-id`
    public var originalTransactionID: String?
    /// `product-id`
    public var productID: String?
    /// `bid`
    public var bundleID: String?
    /// `bvrs`: the build of the app
    public var bundleVersion: String?
    /// `quantity`
    public var quantity: UInt64? = 1
    /// `purchase-date`, `purchase-date-ms` and `purchase-date-pst`, in milliseconds
    public var purchaseDate: Date?
    /// `original-purchase-date`, `original-purchase-date-ms` and `original-purchase-date-pst`, in milliseconds
    public var originalPurchaseDate: Date?
    /// `expires-date` (milliseconds), `expires-date-formatted` and `expires-date-formatted-pst`: only in subscriptions
    public var expiresDate: Date?
    /// `cancellation-date`, `cancellation-date-ms` and `cancellation-date-pst`: never seen; named like the others
    public var cancellationDate: Date?
    /// `item-id`: the number of the product in the App Store
    public var itemID: UInt64?
    /// `app-item-id`: the number of the app; absent from the sandbox since 2014
    public var appItemID: UInt64?
    /// `version-external-identifier`: absent from the sandbox since 2014
    public var versionExternalIdentifier: UInt64?
    /// `unique-identifier`: the device, as 40 hexadecimal digits or, in newer receipts, `00008110-001835EE3E41801E`
    public var uniqueIdentifier: String?
    /// `unique-vendor-identifier`: the device as the developer sees it, a UUID in capitals
    public var uniqueVendorIdentifier: String?
    /// `web-order-line-item-id`: only in subscriptions
    public var webOrderLineItemID: String?
    /// `subscription-group-identifier`: only in subscriptions since 2019
    public var subscriptionGroupIdentifier: String?
    /// `is-trial-period`: since 2017
    public var isTrialPeriod: Bool?
    /// `is-in-intro-offer-period`: since 2017
    public var isInIntroOfferPeriod: Bool?
    /// `in-app-ownership-type`, such as `PURCHASED`: since 2021
    public var inAppOwnershipType: String?
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

        /// An entry with any content.
        public init(_ key: String, _ value: String) {
            self.key = key
            self.value = value
        }
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
        let texts: [(String, String?)] = [
            ("transaction-id", transactionID),
            ("original-transaction-id", originalTransactionID),
            ("product-id", productID),
            ("bid", bundleID),
            ("bvrs", bundleVersion),
            ("quantity", quantity.map(String.init)),
            ("item-id", itemID.map(String.init)),
            ("app-item-id", appItemID.map(String.init)),
            ("version-external-identifier", versionExternalIdentifier.map(String.init)),
            ("unique-identifier", uniqueIdentifier),
            ("unique-vendor-identifier", uniqueVendorIdentifier),
            ("web-order-line-item-id", webOrderLineItemID),
            ("subscription-group-identifier", subscriptionGroupIdentifier),
            ("is-trial-period", isTrialPeriod.map(String.init)),
            ("is-in-intro-offer-period", isInIntroOfferPeriod.map(String.init)),
            ("in-app-ownership-type", inAppOwnershipType),
        ]
        var entries = texts.compactMap { key, text in text.map { Entry(key, $0) } }
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

    private static func milliseconds(_ date: Date) -> String {
        String(date.wholeMilliseconds)
    }

    private static func greenwich(_ date: Date) -> String {
        CivilTime(date).spaced + " Etc/GMT"
    }

    private static func losAngeles(_ date: Date) -> String {
        // Without time zone data, Pacific Standard Time.
        let offset = pacific?.secondsFromGMT(for: date) ?? -8 * 3600
        return CivilTime(date, offset: offset).spaced + " America/Los_Angeles"
    }

    private static let pacific = TimeZone(identifier: "America/Los_Angeles")
}

extension Date {
    /// Milliseconds since 1970, rounded.
    var wholeMilliseconds: Int64 {
        Int64((timeIntervalSince1970 * 1000).rounded())
    }
}
