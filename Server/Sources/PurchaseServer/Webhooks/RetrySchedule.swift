package import PurchaseVerification

/// When an event is attempted again: more and more seldom, over three days.
package enum RetrySchedule {
    /// The pauses after each failed attempt, in seconds: 71.7 hours in all. After another failure the event is given
    /// up.
    package static let pauses: [Double] = [
        5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 28_800, 43_200, 43_200, 86_400,
    ]

    /// The number of attempts before an event is given up.
    package static let attempts = pauses.count + 1

    /// The maximum random change of a pause, as a share of it, so that a recovering receiver does not get all events at
    /// once.
    package static let jitter = 0.2

    /// The time of the next attempt after this number of failed ones; `nil` if there is none.
    package static func next(
        after attempts: Int, now: AppStoreTime, random: Double = Double.random(in: -1...1)
    ) -> AppStoreTime? {
        guard attempts >= 1, attempts <= pauses.count else { return nil }
        let seconds = pauses[attempts - 1] * (1 + jitter * random)
        return AppStoreTime(millisecondsSince1970: now.millisecondsSince1970 + Int64(seconds * 1000))
    }
}
