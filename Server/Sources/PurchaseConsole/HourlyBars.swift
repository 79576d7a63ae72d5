import PurchaseLedger
import PurchaseVerification

/// Drawings of what was recorded in each of the last hours: a bar for each hour, in a drawing for each subject.
enum HourlyBars {
    /// The number of hours.
    static let hours: Int64 = 48
    private static let height = 40.0

    private struct Subject: Sendable {
        let title: String
        /// Whether it is drawn as something to look at.
        var isBad = false
        let isCounted: @Sendable (HourlyCount) -> Bool
    }

    private static let subjects = [
        Subject(title: "Purchases") { isOfClaim($0) && $0.code == DecisionCode.accepted.rawValue },
        Subject(title: "Refused claims", isBad: true) { isRefusal($0) },
        Subject(title: "Renewals") { $0.isNotification([.didRenew]) },
        Subject(title: "Refunds", isBad: true) { $0.isNotification([.refund, .revoke]) },
        Subject(title: "Notifications") { $0.kind == JournalKind.notification.name },
    ]

    private static func isOfClaim(_ count: HourlyCount) -> Bool {
        count.kind == JournalKind.claim.name || count.kind == JournalKind.decision.name
    }

    private static func isRefusal(_ count: HourlyCount) -> Bool {
        count.kind == JournalKind.refusals.name
            || isOfClaim(count) && count.code != DecisionCode.accepted.rawValue
                && count.code != DecisionCode.appStorePending.rawValue
    }

    /// The beginning of the first hour that is drawn.
    static func start(_ now: Timestamp) -> Timestamp {
        let length: Int64 = 3_600_000
        return Timestamp(millisecondsSince1970: (now.millisecondsSince1970 / length - hours + 1) * length)
    }

    /// The values of the template.
    static func fields(_ counts: [HourlyCount], now: Timestamp) -> [String: Any] {
        let first = start(now).millisecondsSince1970
        let times = (0..<hours).map { Timestamp(millisecondsSince1970: first + $0 * 3_600_000) }
        let drawings = subjects.map { subject -> [String: Any] in
            var sums = [Int64](repeating: 0, count: Int(hours))
            for count in counts where subject.isCounted(count) {
                let hour = Int((count.hour.millisecondsSince1970 - first) / 3_600_000)
                if sums.indices.contains(hour) { sums[hour] += count.count }
            }
            return drawing(
                subject.title, sum: "\(sums.reduce(0, +))", sums, times, words: { "\($0)" },
                most: "at most \(sums.max() ?? 0) in an hour", isBad: subject.isBad)
        }
        let answers = HourlyAnswerTimes(counts, from: first)
        let slowest = HourlyAnswerTimes.words(answers.percentiles.max() ?? 0)
        var codes: [String: Int64] = [:]
        for count in counts where isRefusal(count) { codes[count.code, default: 0] += count.count }
        let refusals = codes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { code, count in
            [
                Cell(code, style: "state"), Cell("\(count)"),
                Cell(DecisionCode(rawValue: code)?.sentence ?? ReasonCode(rawValue: code)?.sentence),
            ]
        }
        return [
            "drawings": drawings + [
                drawing(
                    "Answers to claims", sum: answers.words, answers.percentiles, times,
                    words: HourlyAnswerTimes.words, most: "in the slowest hour 95 of 100 \(slowest)")
            ], "hours": "\(hours)", "step": "hour",
            "refusals": ConsoleTable.fields("Refused claims by code", ["Code", "Claims", "What it means"], refusals),
            "from": "\(Timestamp(millisecondsSince1970: first))",
        ]
    }

    /// A drawing of a value for each of some times, the values of the partial `bars`.
    static func drawing(
        _ title: String, sum: String, _ values: [Int64], _ times: [Timestamp], words: (Int64) -> String, most: String,
        isBad: Bool = false
    ) -> [String: Any] {
        let (largest, step) = (max(values.max() ?? 0, 1), 600 / Double(max(1, values.count)))
        let bars = zip(values, times).enumerated().filter { $0.element.0 > 0 }.map { place, bar -> [String: Any] in
            let size = max(height * Double(bar.0) / Double(largest), 2)
            return [
                "x": number(Double(place) * step + 1), "y": number(height - size), "height": number(size),
                "words": ReadableTimes.plain("\(bar.1): \(words(bar.0))"),
            ]
        }
        return [
            "title": title, "sum": sum, "most": most, "bars": bars, "hasBars": !bars.isEmpty,
            "isBad": isBad, "width": number(step * 0.72),
        ]
    }

    private static func number(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}

extension HourlyCount {
    fileprivate func isNotification(_ types: [NotificationType]) -> Bool {
        kind == JournalKind.notification.name && types.contains { $0.rawValue == code }
    }
}

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
