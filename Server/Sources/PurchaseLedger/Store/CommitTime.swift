import Foundation

/// Measures how long a commit takes.
struct CommitTime {
    private let start = Self.now

    /// The seconds since it began.
    var seconds: Double { Self.now - start }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
