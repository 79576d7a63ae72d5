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
