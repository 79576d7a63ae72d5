import PurchaseLedger
import PurchaseVerification

/// How long the answers to claims took in each of the last hours.
struct HourlyAnswerTimes {
    /// The time within which 95 of 100 answers of an hour were given, in milliseconds; 0 for an hour without answers.
    let percentiles: [Int64]
    /// The times of all hours together, in words.
    let words: String

    /// What is shown for answers that took longer than the largest bound, in milliseconds.
    private static let longer = (AnswerTimeBound.all.compactMap(\.milliseconds).max() ?? 0) + 1

    /// - Parameter first: the beginning of the first hour, in milliseconds since 1970.
    init(_ counts: [HourlyCount], from first: Int64) {
        var hours = [[AnswerTimeBound: Int64]](repeating: [:], count: Int(HourlyBars.hours))
        var all: [AnswerTimeBound: Int64] = [:]
        for count in counts where count.kind == AnswerTimeBound.kind {
            guard let bound = AnswerTimeBound(code: count.code) else { continue }
            all[bound, default: 0] += count.count
            let hour = Int((count.hour.millisecondsSince1970 - first) / 3_600_000)
            if hours.indices.contains(hour) { hours[hour][bound, default: 0] += count.count }
        }
        percentiles = hours.map { Self.percentile(95, $0) ?? 0 }
        words =
            if let half = Self.percentile(50, all), let most = Self.percentile(95, all) {
                "half \(Self.words(half)), 95 of 100 \(Self.words(most))"
            } else {
                "none"
            }
    }

    /// A time in words.
    static func words(_ milliseconds: Int64) -> String {
        milliseconds >= longer ? "after more than \(longer - 1) ms" : "within \(milliseconds) ms"
    }

    /// The bound under which a share of the answers are; `nil` if there are none.
    private static func percentile(_ share: Int64, _ counts: [AnswerTimeBound: Int64]) -> Int64? {
        let sum = counts.values.reduce(0, +)
        guard sum > 0 else { return nil }
        var below: Int64 = 0
        for (bound, count) in counts.sorted(by: { $0.key < $1.key }) {
            below += count
            if below * 100 >= sum * share { return bound.milliseconds ?? longer }
        }
        return nil
    }
}
