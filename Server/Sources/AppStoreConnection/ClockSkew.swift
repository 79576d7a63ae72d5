public import Foundation
import Synchronization

/// How far this machine's clock is ahead of the App Store's, by the `Date` of its answers (RFC 9110, section 6.6.1).
///
/// Apple refuses tokens from the future, and the entries of a ledger carry the time of this machine.
public final class ClockSkew: Sendable {
    /// The largest difference that is not mentioned, in seconds: `Date` has whole seconds, and answers take some.
    public static let tolerance = 10.0

    private let state = Mutex(State())
    private let time: @Sendable () -> Date
    private let onExcess: @Sendable (String) -> Void

    private struct State {
        var seconds: Double?
        var isReported = false
    }

    /// - Parameters:
    ///   - time: this machine's clock.
    ///   - onExcess: called with a sentence when the difference grows beyond `tolerance`. It must not wait.
    public init(
        time: @escaping @Sendable () -> Date = { Date() }, onExcess: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        (self.time, self.onExcess) = (time, onExcess)
    }

    /// The difference by the last answer, in seconds, below 0 if this clock is behind; `nil` before the first answer.
    public var seconds: Double? { state.withLock { $0.seconds } }

    /// The difference as a sentence, if it is beyond `tolerance`.
    public var excess: String? { seconds.flatMap { abs($0) > Self.tolerance ? Self.sentence($0) : nil } }

    /// A difference, as a sentence without a full stop.
    public static func sentence(_ seconds: Double) -> String {
        "this machine's clock is \(Int(abs(seconds).rounded())) s \(seconds < 0 ? "behind" : "ahead of") the App Store's"
    }

    func now() -> Date { time() }

    /// The only form of `Date` that a server sends (RFC 9110, section 5.6.7).
    private static let form = Date.ParseStrategy(
        format: """
            \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .padded(4)) \
            \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\
            \(second: .twoDigits) GMT
            """, locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, isLenient: false)

    /// Compares the clock with the `Date` of an answer that has just begun.
    ///
    /// - Parameter sent: this clock when the request was sent. A slow answer makes no difference: Apple's clock showed
    ///   its `Date` at some time between the two.
    func note(_ date: String?, sent: Date) {
        // An answer without a readable `Date` says nothing.
        guard let date, date.utf8.count == 29, let stated = try? Date(date, strategy: Self.form) else { return }
        let (ahead, behind) = (sent.timeIntervalSince(stated), time().timeIntervalSince(stated))
        let seconds = ahead > 0 ? ahead : min(0, behind)
        let isNew = state.withLock { state in
            state.seconds = seconds
            let wasReported = state.isReported
            // Half of it ends the report, so that a difference that varies around the limit is one report.
            state.isReported = abs(seconds) > (wasReported ? Self.tolerance / 2 : Self.tolerance)
            return state.isReported && !wasReported
        }
        if isNew { onExcess(Self.sentence(seconds)) }
    }
}
