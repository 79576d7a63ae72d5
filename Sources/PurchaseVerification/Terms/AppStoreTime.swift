import TextFormats

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A time in UTC, in whole milliseconds since 1970: the precision of receipts, without a calendar's rounding.
public struct AppStoreTime: Sendable, Hashable, Comparable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public let millisecondsSince1970: Int64

    /// - Parameter millisecondsSince1970: milliseconds since 1970-01-01T00:00:00Z.
    public init(millisecondsSince1970: Int64) {
        self.millisecondsSince1970 = millisecondsSince1970
    }

    /// The time of a `Date`, rounded down to the millisecond; dates beyond the range of receipts are clamped.
    public init(_ date: Date) {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded(.down)
        self.init(millisecondsSince1970: Int64(exactly: milliseconds) ?? (milliseconds > 0 ? .max : .min))
    }

    /// The time of an RFC 3339 text, such as `2023-06-21T09:14:02Z`; `nil` for any other text.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)[...]
        guard let moment = ReceiptDate.read(bytes.span, 0..<bytes.count) else { return nil }
        self = moment
    }

    /// The same time as a `Date`.
    public var date: Date { Date(timeIntervalSince1970: Double(millisecondsSince1970) / 1000) }

    public static func < (left: AppStoreTime, right: AppStoreTime) -> Bool {
        left.millisecondsSince1970 < right.millisecondsSince1970
    }
}

extension AppStoreTime: CustomStringConvertible {
    /// RFC 3339 in UTC, with milliseconds only if they are not 0: `2023-06-21T09:14:02Z`.
    public var description: String {
        let (days, time) = millisecondsSince1970.flooredDivision(by: 86_400_000)
        let civil = CivilDate(daysSince1970: days)
        let seconds = time / 1000
        var text = "\(civil)T\(two(seconds / 3600)):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
        if time % 1000 != 0 {
            text += ".\(time % 1000 < 100 ? "0" : "")\(two(time % 1000))"
        }
        return text + "Z"
    }

    private func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
