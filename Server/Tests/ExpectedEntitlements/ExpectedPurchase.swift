import AppStoreSimulator
import Foundation

/// One purchase with all its periods and copies, which have the same original transaction.
struct ExpectedPurchase: Sendable {
    let original: String
    let productID: String
    let kind: StoreProduct.Kind
    let environment: StoreEnvironment
    /// The buyer, or the family member it is shared with.
    let buyer: String
    let quantity: Int64
    let date: Date
    /// The buyer, if the purchase carries their account token.
    let tokenOwner: String?
    /// The owner; nil if it is held.
    var owner: String?
    var claimants: Set<String> = []
    /// For everything except a subscription.
    var revocation: StoreTransaction.Revocation?
    /// For a subscription, in the order in which the store sold them.
    var periods: [Period] = []
    /// The used units of a consumable.
    var uses: [Use] = []

    struct Period: Sendable {
        let transactionID: String
        let productID: String
        let start: Date
        var end: Date
        var graceEnd: Date?
        /// The revocations of its transactions: one, and those that added seats to it.
        var revocations: [String: Date?]

        /// When the last of its transactions was revoked; nil if one of them is not.
        var revokedAt: Date? {
            let dates = revocations.values.compactMap(\.self)
            return dates.count == revocations.count ? dates.max() : nil
        }
    }

    struct Use: Sendable {
        let customer: String
        let units: Int64
        let date: Date
    }

    init(_ transaction: StoreTransaction) {
        original = transaction.originalTransactionID
        productID = transaction.productID
        kind = transaction.kind
        environment = transaction.environment
        buyer = transaction.customerID
        quantity = Int64(transaction.quantity)
        date = transaction.purchaseDate
        tokenOwner = transaction.appAccountToken == nil ? nil : transaction.customerID
        owner = tokenOwner
    }

    /// Whether the customer bought, claimed, has or used it.
    func concerns(_ customer: String) -> Bool {
        buyer == customer || owner == customer || claimants.contains(customer)
            || uses.contains { $0.customer == customer }
    }

    static func isBefore(_ left: ExpectedPurchase, _ right: ExpectedPurchase) -> Bool {
        if left.date != right.date { return left.date < right.date }
        return (left.original.utf8.count, left.original) < (right.original.utf8.count, right.original)
    }

    // MARK: Units

    /// The number of units at a time, including used ones.
    func units(at time: Date) -> Int64 {
        guard time >= date else { return 0 }
        guard let revocation, revocation.date <= time else { return quantity }
        guard let percentage = revocation.percentage else { return 0 }
        let share = (Double(quantity) * Double(percentage) / 100_000).rounded()
        return quantity - min(quantity, max(1, Int64(share)))
    }

    func used(by customer: String, until time: Date) -> Int64 {
        uses.filter { $0.customer == customer && $0.date <= time }.reduce(0) { $0 + $1.units }
    }

    // MARK: Times

    /// The intervals in which the subscription gives a product. One product at a time: a period ends when a period of
    /// another product begins, even if that one is refunded. A grace period ends when any other period begins.
    func subscriptionRuns(of productID: String) -> [ExpectedRun] {
        var intervals: [(Date, Date)] = []
        for (index, period) in periods.enumerated() where period.productID == productID {
            let later = periods[(index + 1)...]
            var end = period.end
            if let graceEnd = period.graceEnd {
                end = max(end, min(graceEnd, later.first?.start ?? .distantFuture))
            }
            if let other = later.first(where: { $0.productID != productID }) { end = min(end, other.start) }
            if let revokedAt = period.revokedAt { end = min(end, revokedAt) }
            intervals.append((period.start, end))
        }
        return ExpectedRun.joined(intervals)
    }

    /// The intervals in which the passes of one customer and product give access: each begins when the previous one
    /// ends. A refund ends a pass, and the next one begins then.
    static func passRuns(_ passes: [ExpectedPurchase], _ length: StorePeriod) -> [ExpectedRun] {
        var intervals: [(Date, Date)] = []
        var chainEnd = Date.distantPast
        // Lengths are added up from here, so that months do not drift at the ends of short ones.
        var (anchor, count) = (Date.distantPast, 0)
        for pass in passes.sorted(by: isBefore) {
            if pass.date > chainEnd { (anchor, count, chainEnd) = (pass.date, 0, pass.date) }
            let end = length.end(from: anchor, periods: count + 1)
            if let revokedAt = pass.revocation?.date, revokedAt < end {
                guard revokedAt > chainEnd else { continue }
                intervals.append((chainEnd, revokedAt))
                (anchor, count, chainEnd) = (revokedAt, 0, revokedAt)
            } else {
                intervals.append((chainEnd, end))
                (count, chainEnd) = (count + 1, end)
            }
        }
        return ExpectedRun.joined(intervals)
    }
}

/// A contiguous time in which a customer has a product from one source.
struct ExpectedRun: Sendable {
    /// When its parts begin, the earliest first.
    private(set) var starts: [Date]
    private(set) var end: Date

    /// The time before its start at which an entitlement may already be used.
    private static let tolerance: TimeInterval = 300

    func contains(_ time: Date) -> Bool { starts[0] <= time && time < end }

    /// Intervals, joined if there is no gap between them, or one that the tolerance of starts closes.
    static func joined(_ intervals: [(start: Date, end: Date)]) -> [ExpectedRun] {
        var runs: [ExpectedRun] = []
        for interval in intervals.sorted(by: { $0.start < $1.start }) where interval.start < interval.end {
            if let last = runs.last, interval.start.addingTimeInterval(-tolerance) <= last.end {
                runs[runs.count - 1].starts.append(interval.start)
                runs[runs.count - 1].end = max(last.end, interval.end)
            } else {
                runs.append(ExpectedRun(starts: [interval.start], end: interval.end))
            }
        }
        return runs
    }
}
