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
    /// The currency of the price, such as `EUR`.
    public var currencyCode: String?
    /// The price of a month, as the App Store of the customer writes it; only of subscriptions.
    public var pricePerMonthText: String?
    /// The paid period; `nil` if it is no auto-renewable subscription.
    public var period: PurchasePeriod?
    /// The paid period in the customer's language, such as "3 months".
    public var periodText: String?
    /// The group of the subscription: a customer has one product of a group at a time.
    public var subscriptionGroupID: String?
    public var offers: [PurchaseProductOffer]
    /// How the subscription can be paid; empty where the system does not say it, which needs the package's trait
    /// `StoreKit27`.
    public var plans: [PurchaseProductPlan]

    public var id: String { productID }

    public init(
        productID: String, kind: PurchaseProductKind? = nil, name: String, summary: String = "", price: Decimal,
        priceText: String, currencyCode: String? = nil, pricePerMonthText: String? = nil,
        period: PurchasePeriod? = nil, periodText: String? = nil, subscriptionGroupID: String? = nil,
        offers: [PurchaseProductOffer] = [], plans: [PurchaseProductPlan] = []
    ) {
        (self.productID, self.kind, self.name, self.summary) = (productID, kind, name, summary)
        (self.price, self.priceText, self.currencyCode) = (price, priceText, currencyCode)
        (self.pricePerMonthText, self.period, self.periodText) = (pricePerMonthText, period, periodText)
        (self.subscriptionGroupID, self.offers, self.plans) = (subscriptionGroupID, offers, plans)
    }
}

extension PurchaseProduct {
    /// The price of a month; `nil` if it is no auto-renewable subscription. A year has 12 months, 52 weeks or 365 days.
    public var pricePerMonth: Decimal? {
        guard let period, period.count > 0 else { return nil }
        let (count, price) = (Decimal(period.count), price)
        return switch period.unit {
        case .day: price * 365 / (12 * count)
        case .week: price * 52 / (12 * count)
        case .month: price / count
        case .year: price / (12 * count)
        }
    }
}

/// How a yearly subscription is paid: at once, or each month with a commitment of 12 months.
public enum BillingPlan: String, Sendable, Hashable, Codable { case upFront, monthly }

/// A billing plan of a subscription, as a shop shows it.
public struct PurchaseProductPlan: Sendable, Hashable {
    public var plan: BillingPlan
    /// The price of each payment.
    public var price: Decimal
    /// The same, as the App Store of the customer writes it.
    public var priceText: String
    /// The price of the whole commitment, which a shop shows beside that of a payment.
    public var commitmentPrice: Decimal
    public var commitmentPriceText: String

    public init(
        plan: BillingPlan, price: Decimal, priceText: String, commitmentPrice: Decimal, commitmentPriceText: String
    ) {
        (self.plan, self.price, self.priceText) = (plan, price, priceText)
        (self.commitmentPrice, self.commitmentPriceText) = (commitmentPrice, commitmentPriceText)
    }
}

/// The length of a paid period, such as three months.
public struct PurchasePeriod: Sendable, Hashable, Codable {
    public var unit: Unit
    public var count: Int

    public enum Unit: String, Sendable, Hashable, Codable { case day, week, month, year }

    public init(_ count: Int, _ unit: Unit) { (self.count, self.unit) = (count, unit) }

    /// When a number of such periods end that begin at a date, in UTC.
    func end(after periods: Int, from date: Date) -> Date {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? calendar.timeZone
        let units: [Unit: Calendar.Component] = [.day: .day, .week: .weekOfYear, .month: .month, .year: .year]
        return calendar.date(byAdding: units[unit] ?? .day, value: count * periods, to: date) ?? date
    }
}
