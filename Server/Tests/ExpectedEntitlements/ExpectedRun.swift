import Foundation

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
