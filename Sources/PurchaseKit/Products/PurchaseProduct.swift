public import Foundation

/// A product of the App Store, as a shop shows it; the same for both APIs of StoreKit.
public struct PurchaseProduct: Sendable, Hashable, Identifiable {
    public var productID: String
    public var kind: PurchaseProductKind?
    /// The name in the customer's language.
    public var name: String
    /// The description in the customer's language.
    public var summary: String
    public var price: Decimal
    /// The price as the App Store of the customer writes it. Show this text, and never format the price yourself.
    public var priceText: String
    /// The paid period; `nil` if it is no auto-renewable subscription.
    public var period: PurchasePeriod?
    /// The group of the subscription: a customer has one product of a group at a time.
    public var subscriptionGroupID: String?
    public var offers: [PurchaseProductOffer]

    public var id: String { productID }

    public init(
        productID: String, kind: PurchaseProductKind? = nil, name: String, summary: String = "", price: Decimal,
        priceText: String, period: PurchasePeriod? = nil, subscriptionGroupID: String? = nil,
        offers: [PurchaseProductOffer] = []
    ) {
        self.productID = productID
        self.kind = kind
        self.name = name
        self.summary = summary
        self.price = price
        self.priceText = priceText
        self.period = period
        self.subscriptionGroupID = subscriptionGroupID
        self.offers = offers
    }
}

/// The length of a paid period, such as three months.
public struct PurchasePeriod: Sendable, Hashable, Codable {
    public var unit: Unit
    public var count: Int

    /// The units of a period.
    public enum Unit: String, Sendable, Hashable, Codable { case day, week, month, year }

    /// A period of a number of units.
    public init(_ count: Int, _ unit: Unit) {
        self.count = count
        self.unit = unit
    }

    /// When a number of such periods end that begin at a date, in UTC.
    func end(after periods: Int, from date: Date) -> Date {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? calendar.timeZone
        let component: Calendar.Component =
            switch unit {
            case .day: .day
            case .week: .weekOfYear
            case .month: .month
            case .year: .year
            }
        return calendar.date(byAdding: component, value: count * periods, to: date) ?? date
    }
}
