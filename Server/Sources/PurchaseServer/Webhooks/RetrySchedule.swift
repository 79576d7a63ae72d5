package import PurchaseVerification

/// When an event is attempted again: more and more seldom, over three days.
package enum RetrySchedule {
    /// The pauses after each failed attempt, in seconds: 71.7 hours in all. Another failure gives the event up.
    package static let pauses: [Double] = [
        5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 28_800, 43_200, 43_200, 86_400,
    ]

    /// The number of attempts before an event is given up.
    package static let attempts = pauses.count + 1

    /// The largest change of a pause by chance, as a share of it, so that a receiver that comes back is not asked for everything at once.
    package static let jitter = 0.2

    /// The next attempt after so many failed ones; `nil` if there is none.
    package static func next(
        after attempts: Int, now: Timestamp, random: Double = Double.random(in: -1...1)
    ) -> Timestamp? {
        guard attempts >= 1, attempts <= pauses.count else { return nil }
        let seconds = pauses[attempts - 1] * (1 + jitter * random)
        return Timestamp(millisecondsSince1970: now.millisecondsSince1970 + Int64(seconds * 1000))
    }
}
