import PurchaseVerification

/// The four kinds of products of the App Store.
public enum ProductKind: String, Sendable, CaseIterable {
    /// Used up: each purchase adds to a balance.
    case consumable
    /// Bought once and kept.
    case nonConsumable = "non_consumable"
    /// Renewed by the App Store until it is cancelled. The evidence states its end.
    case autoRenewable = "auto_renewable"
    /// Ends after a duration that the settings state.
    case nonRenewing = "non_renewing"
}

/// The settings of a product, as they were when a purchase of it first counted.
public struct ProductTerms: Sendable, Hashable {
    public var kind: ProductKind
    /// The duration of a non-renewing subscription, which evidence does not state.
    public var duration: PassDuration?

    /// Creates terms.
    public init(kind: ProductKind, duration: PassDuration? = nil) {
        self.kind = kind
        self.duration = duration
    }
}

/// The duration of a non-renewing subscription: a fixed time, or calendar months.
public enum PassDuration: Sendable, Hashable {
    /// A fixed number of milliseconds.
    case fixed(milliseconds: Int64)
    /// Calendar months in UTC; a year is 12 of them.
    case months(Int64)

    /// The longest duration, in days and in months: a hundred years.
    private static let (longestDays, longestMonths): (Int64, Int64) = (36_525, 1200)

    /// Reads a duration in the format of the settings: `90s`, `15m` (minutes), `24h`, `30d`, `1mo`, `1y`.
    ///
    /// - Returns: `nil` for other text, for zero, and for more than a hundred years.
    public init?(_ text: String) {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard digits.count <= 9, let count = Int64(String(decoding: digits, as: UTF8.self)), count > 0 else {
            return nil
        }
        let unit: Int64
        switch String(decoding: text.utf8.dropFirst(digits.count).prefix(3), as: UTF8.self) {
        case "s": unit = 1000
        case "m": unit = 60_000
        case "h": unit = 3_600_000
        case "d": unit = 86_400_000
        case "mo":
            guard count <= Self.longestMonths else { return nil }
            self = .months(count)
            return
        case "y":
            guard count <= Self.longestMonths / 12 else { return nil }
            self = .months(12 * count)
            return
        default: return nil
        }
        guard count <= Self.longestDays * 86_400_000 / unit else { return nil }
        self = .fixed(milliseconds: count * unit)
    }
}

extension PassDuration: CustomStringConvertible {
    /// The duration in the format of the settings, in the largest unit that fits.
    public var description: String {
        switch self {
        case .months(let months): months % 12 == 0 ? "\(months / 12)y" : "\(months)mo"
        case .fixed(let milliseconds):
            if milliseconds % 86_400_000 == 0 {
                "\(milliseconds / 86_400_000)d"
            } else if milliseconds % 3_600_000 == 0 {
                "\(milliseconds / 3_600_000)h"
            } else if milliseconds % 60_000 == 0 {
                "\(milliseconds / 60_000)m"
            } else {
                "\(milliseconds / 1000)s"
            }
        }
    }
}

/// A product of an app.
public struct RegisteredProduct: Sendable, Hashable {
    public var kind: ProductKind
    /// The duration of a non-renewing subscription; evidence does not state it.
    public var duration: PassDuration?
    /// The named entitlements that the product gives, such as `pro`.
    public var entitlements: [String]
    /// The subscription group of an auto-renewable product (Apple, "subscriptionGroupIdentifier").
    public var group: ExactText?

    /// Creates a product.
    public init(
        kind: ProductKind, duration: PassDuration? = nil, entitlements: [String] = [], group: ExactText? = nil
    ) {
        self.group = group
        self.kind = kind
        self.duration = duration
        self.entitlements = entitlements
    }
}
