public import PurchaseVerification

/// How often something was recorded in one hour.
public struct HourlyCount: Sendable, Equatable {
    /// The length of an hour, in milliseconds.
    static let length: Int64 = 3_600_000

    /// The beginning of the hour, UTC.
    public var hour: Timestamp
    /// The name of the kind of journal entries (`JournalKind.name`), or `AnswerTimeBound.kind`.
    public var kind: String
    /// The code of the entries; of notifications, their type; of times, their bound.
    public var code: String
    public var count: Int64

    public init(hour: Timestamp, kind: String, code: String, count: Int64) {
        (self.hour, self.kind, self.code, self.count) = (hour, kind, code, count)
    }

    /// The beginning of the hour of a time.
    static func hour(of time: Timestamp) -> Timestamp {
        let (quotient, rest) = time.millisecondsSince1970.quotientAndRemainder(dividingBy: length)
        return Timestamp(millisecondsSince1970: (rest < 0 ? quotient - 1 : quotient) * length)
    }
}

/// A bound of the time that an answer took, under which it is counted by the hour.
public struct AnswerTimeBound: Sendable, Hashable, Comparable {
    /// The kind of the counts, beside those of journal entries.
    public static let kind = "answer_time"

    /// In milliseconds; `nil` for all that took longer than the largest bound.
    public let milliseconds: Int64?

    /// All bounds, the smallest first. Between two of them is a factor of 2 to 2.5.
    public static let all = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, nil].map(Self.init)

    private init(_ milliseconds: Int64?) { self.milliseconds = milliseconds }

    /// The bound of a time.
    public init(of duration: Duration) {
        self = Self.all.first { $0.milliseconds.map { duration <= .milliseconds($0) } ?? true } ?? Self(nil)
    }

    /// The bound of a stored code; `nil` for another code.
    public init?(code: String) {
        guard let bound = Self.all.first(where: { $0.code == code }) else { return nil }
        self = bound
    }

    /// The code under which it is stored.
    public var code: String { milliseconds.map { "\($0)" } ?? "longer" }

    public static func < (left: Self, right: Self) -> Bool {
        (left.milliseconds ?? .max) < (right.milliseconds ?? .max)
    }
}
