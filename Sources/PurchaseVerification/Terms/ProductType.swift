/// The kind of a product, in signed transactions and in receipts (Apple, "type").
public struct ProductType: OpenValue {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let autoRenewableSubscription = Self(rawValue: "Auto-Renewable Subscription")
    public static let nonConsumable = Self(rawValue: "Non-Consumable")
    public static let consumable = Self(rawValue: "Consumable")
    public static let nonRenewingSubscription = Self(rawValue: "Non-Renewing Subscription")
    /// Only in receipts: a subscription without a price.
    public static let freeSubscription = Self(rawValue: "Free Subscription")

    /// The kind as attribute 1707 of a receipt numbers it; the numbering is inferred from names and periods of real
    /// purchases. The raw value of a number without a known meaning is the number.
    init(receiptNumber number: UInt64) {
        self =
            switch number {
            case 0: .nonConsumable
            case 1: .consumable
            case 2: .nonRenewingSubscription
            case 3: .autoRenewableSubscription
            case 4: .freeSubscription
            default: Self(rawValue: "\(number)")
            }
    }
}
