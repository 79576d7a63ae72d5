public import Foundation

extension AppStore {
    /// The number of renewals that one move of the clock may cause; a move that would cause more is refused as a whole.
    public static let renewalsPerMove = 20_000

    /// Moves the clock forward. Everything that falls due in between happens at its own time and in order: the earliest
    /// first, and at the same time the older subscription first.
    /// - Parameter date: the new time of the clock, in whole seconds; a fraction is cut off.
    /// - Throws: `clock_backwards` if anything has happened already, `too_many_renewals`, `invalid_value` beyond the
    ///   year 9000.
    public mutating func moveClock(to date: Date) throws(StoreError) {
        try moveClock(to: date, stopsEarly: false)
    }

    /// - Parameter stopsEarly: if too many renewals would fall due, the clock stops at the last one within the limit.
    mutating func moveClock(to date: Date, stopsEarly: Bool) throws(StoreError) {
        while let (transactionID, decisionDate) = nextRefundDecision, decisionDate <= date {
            try moveClockOverRenewals(to: max(now, decisionDate), stopsEarly: stopsEarly)
            guard now >= decisionDate.inWholeSeconds else { return }
            try decideRefund(of: transactionID)
        }
        try moveClockOverRenewals(to: date, stopsEarly: stopsEarly)
    }

    private mutating func moveClockOverRenewals(to date: Date, stopsEarly: Bool) throws(StoreError) {
        let target = date.inWholeSeconds
        guard target < Self.latestDate, target > Self.earliestDate else {
            throw StoreError(.invalidValue, "The clock shows years from 1990 to 9000.")
        }
        try require(
            target >= now || state.events.count == 0, .clockBackwards,
            "The clock shows \(now.internet) and the store has events; it cannot go back to \(target.internet).")
        var due = state.subscriptions.values.compactMap { DueSubscription($0) }.filter { $0.date <= target }
        due.sort(by: >)
        var handled = 0
        // The next one is the last element, so that removing it is cheap.
        while let next = due.popLast() {
            handled += 1
            guard handled <= Self.renewalsPerMove else {
                if stopsEarly { return }
                throw StoreError(
                    .tooManyRenewals,
                    "More than \(Self.renewalsPerMove) renewals would fall due until \(target.internet); move in smaller steps."
                )
            }
            state.summary.now = max(now, next.date)
            let changed = handleDue(next.originalTransactionID)
            if let again = changed.flatMap({ DueSubscription($0) }), again.date <= target {
                due.insert(again, at: Self.place(of: again, in: due))
            }
        }
        state.summary.now = target
    }

    /// The index at which a time belongs in a list that is sorted from the latest to the earliest.
    private static func place(of subscription: DueSubscription, in due: [DueSubscription]) -> Int {
        var (low, high) = (0, due.count)
        while low < high {
            let middle = (low + high) / 2
            if due[middle] < subscription { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// The last time that the clock can show.
    static let lastDate = latestDate.addingTimeInterval(-1)
    private static let earliestDate = Date(timeIntervalSince1970: 631_152_000)
    private static let latestDate = Date(timeIntervalSince1970: 221_845_392_000)
}

/// A subscription that the store must look at, at a time.
private struct DueSubscription: Comparable {
    let date: Date
    let originalTransactionID: String

    init?(_ subscription: StoreSubscription) {
        guard let date = subscription.dueDate else { return nil }
        self.date = date
        originalTransactionID = subscription.originalTransactionID
    }

    static func < (left: DueSubscription, right: DueSubscription) -> Bool {
        if left.date != right.date { return left.date < right.date }
        let (leftID, rightID) = (left.originalTransactionID, right.originalTransactionID)
        return (leftID.utf8.count, leftID) < (rightID.utf8.count, rightID)
    }
}
