public import PurchaseVerification

/// The figures of one period of time (docs/figures.md).
public struct PurchaseFigures: Sendable, Equatable {
    private var counts: [Count: Int64] = [:]
    public private(set) var churned: [ExportedPurchase.EndReason: Int] = [:]
    public private(set) var gross: [Price: Int64] = [:]

    /// In the order in which they are shown.
    public enum Count: String, Sendable, CaseIterable {
        /// At the end: subscriptions whose paid or grace period covers it.
        case activeSubscriptions = "active_subscriptions"
        case trials, conversions, churned
        /// Those of the active ones in a grace period.
        case inGrace = "in_grace"
        /// At the end: subscriptions without access whose price Apple tries to collect.
        case inRetry = "in_retry"
        case refunds, units
    }

    /// In which currency and App Store something was paid; no App Store is the empty text.
    public struct Price: Sendable, Hashable { public let currency, storefront: String }

    public init() {}

    public subscript(count: Count) -> Int64 { counts[count] ?? 0 }

    /// The gross amounts, in the order of currencies and storefronts.
    public var sums: [(price: Price, amount: String)] {
        gross.sorted { ($0.key.currency, $0.key.storefront) < ($1.key.currency, $1.key.storefront) }
            .map { ($0.key, Self.amount($0.value, $0.key.currency)) }
    }

    fileprivate mutating func add(_ count: Count, _ number: Int64 = 1) {
        counts[count] = self[count].saturatingSum(number)
    }

    fileprivate mutating func add(_ reason: ExportedPurchase.EndReason?) {
        add(.churned)
        churned[reason ?? .newsMissing, default: 0] += 1
    }

    fileprivate mutating func add(_ row: ExportedPurchase) {
        add(.units, row.quantity)
        guard let amount = row.amount, let currency = row.currency else { return }
        let price = Price(currency: currency, storefront: row.storefront ?? "")
        gross[price] = gross[price, default: 0].saturatingSum(amount)
    }

    /// A sum as decimal text, in the digits of its currency (ISO 4217). More digits are never cut.
    public static func amount(_ milliunits: Int64, _ currency: String) -> String {
        let (whole, rest) = milliunits.magnitude.quotientAndRemainder(dividingBy: 1000)
        let least = withoutMinorUnit.contains(currency) ? 0 : ofThousandths.contains(currency) ? 3 : 2
        var digits = Substring("\(1000 + rest)".dropFirst())
        while digits.count > least, digits.last == "0" { digits = digits.dropLast() }
        return "\(milliunits < 0 ? "-" : "")\(whole)\(digits.isEmpty ? "" : ".\(digits)")"
    }

    private static let withoutMinorUnit: Set<String> = [
        "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF",
    ]
    private static let ofThousandths: Set<String> = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"]
}

/// Days or months in UTC, one after the other.
public struct FigurePeriods: Sendable, Hashable {
    /// The start of each, and the end of the last.
    public let bounds: [Timestamp]

    public enum Step: String, Sendable, CaseIterable { case day, month }

    /// The maximum number of periods.
    public static let limit = 4000

    public init(bounds: [Timestamp]) { self.bounds = bounds }

    /// The start of the 30 days, or 12 months, that end on a day.
    public static func usualStart(until last: Timestamp, by step: Step) -> Timestamp {
        switch step {
        case .day: last.adding(milliseconds: -86_400_000, times: 29)
        case .month: monthStart(last)?.adding(months: -11) ?? last
        }
    }

    private static func monthStart(_ time: Timestamp) -> Timestamp? { Timestamp("\("\(time)".prefix(7))-01T00:00:00Z") }

    /// The periods from the day of one time to the day of another. A period that has not ended ends now, and later ones
    /// are left out, unless all of them are later.
    ///
    /// - Returns: `nil` if there is none, or if there are too many.
    public init?(from: Timestamp, to: Timestamp, by step: Step, now: Timestamp) {
        let day: Int64 = 86_400_000
        func start(_ time: Timestamp) -> Timestamp {
            Timestamp("\("\(time)".prefix { $0 != "T" })T00:00:00Z") ?? time
        }
        let (first, last) = (start(from), start(to).adding(milliseconds: day, times: 1))
        let end = first < now ? min(last, now) : last
        guard first < end else { return nil }
        var (bounds, next) = ([first], first)
        while next < end, bounds.count <= Self.limit {
            switch step {
            case .day: next = next.adding(milliseconds: day, times: 1)
            case .month: next = Self.monthStart(next)?.adding(months: 1) ?? end
            }
            bounds.append(min(next, end))
        }
        guard bounds.count <= Self.limit + 1, next >= end else { return nil }
        self.bounds = bounds
    }
}

/// Counts figures from the rows of an export, original by original. It is a pure function of them.
public struct FiguresFold: Sendable {
    public let periods: FigurePeriods
    /// The only product that counts; `nil` for all.
    public let product: String?
    /// For each period, in its order.
    public private(set) var figures: [PurchaseFigures]
    /// Of the whole time.
    public private(set) var total = PurchaseFigures()
    /// For each product, of the whole time.
    public private(set) var products: [String: PurchaseFigures] = [:]
    /// The products of all rows that count, at any time.
    public private(set) var sold: Set<String> = []

    /// A renewal can begin this much later than the period before ends, in milliseconds.
    private static let gap: Int64 = 300_000

    public init(_ periods: FigurePeriods, product: String? = nil) {
        (self.periods, self.product) = (periods, product)
        figures = Array(repeating: PurchaseFigures(), count: periods.bounds.count - 1)
    }

    /// Adds all rows of one original transaction.
    public mutating func add(_ rows: [ExportedPurchase]) {
        let counted = rows.filter(\.counts)
        for row in counted {
            sold.insert(row.productID)
            note(row.purchasedAt, row.productID) { $0.add(row) }
            note(row.revokedAt, row.productID) { $0.add(.refunds) }
        }
        let periods = counted.compactMap(Period.init).sorted(by: Period.isBefore)
        for (place, period) in periods.enumerated() {
            let followsTrial = place > 0 && periods[place - 1].row.isTrial
            guard followsTrial != period.row.isTrial else { continue }
            note(period.start, period.row.productID) { $0.add(followsTrial ? .conversions : .trials) }
        }
        addEnds(periods)
        addStanding(periods)
    }

    private struct Period {
        let row: ExportedPurchase
        let start, paid, covered, pursued: Timestamp

        init?(_ row: ExportedPurchase) {
            guard row.kind == .autoRenewable, let start = row.purchasedAt, let paid = row.paidUntil,
                let covered = row.coveredUntil, let pursued = row.pursuedUntil
            else { return nil }
            (self.row, self.start, self.paid, self.covered, self.pursued) = (row, start, paid, covered, pursued)
        }

        static func isBefore(_ left: Period, _ right: Period) -> Bool {
            (left.start, left.paid, left.row.transactionID) < (right.start, right.paid, right.row.transactionID)
        }
    }

    /// Counts where access and retry ended and no other period went on.
    private mutating func addEnds(_ periods: [Period]) {
        guard var last = periods.first else { return }
        for (former, period) in zip(periods, periods.dropFirst()) {
            if period.start > last.pursued.adding(milliseconds: Self.gap, times: 1) {
                note(last.pursued, last.row.productID) { $0.add(last.row.endReason) }
            } else if former.row.productID != period.row.productID {
                note(period.start, former.row.productID, onlyOfProduct: true) { $0.add(.productChanged) }
            }
            if period.pursued >= last.pursued { last = period }
        }
        note(last.pursued, last.row.productID) { $0.add(last.row.endReason) }
    }

    /// Counts the subscription in the state that it has at the end of each period.
    private mutating func addStanding(_ rows: [Period]) {
        guard let first = rows.first else { return }
        var reach: [Timestamp] = []
        for row in rows { reach.append(max(reach.last ?? row.pursued, row.pursued)) }
        for place in figures.indices {
            let moment = periods.bounds[place + 1]
            guard moment >= first.start, moment < reach[reach.count - 1] else { continue }
            var (begun, retried, found): (Int, Period?, Period?) = (rows.leadingCount { $0.start <= moment }, nil, nil)
            while found == nil, begun > 0, moment < reach[begun - 1] {
                begun -= 1
                if moment < rows[begun].covered { found = rows[begun] }
                if retried == nil, moment < rows[begun].pursued { retried = rows[begun] }
            }
            guard let counting = found ?? retried else { continue }
            change(place, counting.row.productID, isLast: place == figures.count - 1) {
                $0.add(found == nil ? .inRetry : .activeSubscriptions)
                if found != nil, moment >= counting.paid { $0.add(.inGrace) }
            }
        }
    }

    /// Changes the figures of the period of a time, and those of a product.
    private mutating func note(
        _ time: Timestamp?, _ productID: String, onlyOfProduct: Bool = false, _ body: (inout PurchaseFigures) -> Void
    ) {
        guard let time, time >= periods.bounds[0], time < periods.bounds[figures.count] else { return }
        let place = periods.bounds.leadingCount { $0 <= time } - 1
        guard onlyOfProduct, product == nil else { return change(place, productID, body) }
        body(&products[productID, default: PurchaseFigures()])
    }

    private mutating func change(
        _ place: Int, _ productID: String, isLast: Bool = true, _ body: (inout PurchaseFigures) -> Void
    ) {
        guard product.map({ $0 == productID }) ?? true else { return }
        body(&figures[place])
        guard isLast else { return }
        body(&total)
        body(&products[productID, default: PurchaseFigures()])
    }
}
