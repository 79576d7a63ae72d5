// Moments in milliseconds, and the calendar that writes them.

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

/// A day of the proleptic Gregorian calendar.
package struct CivilDate: Sendable, Equatable {
    package var year: Int64
    package var month: Int64
    package var day: Int64

    package init(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// The day at a number of days after 1970-01-01.
    package init(daysSince1970: Int64) {
        // The calendar is laid out from 1 March of year 0, so that the leap day is the last of its year.
        let (era, dayOfEra) = (daysSince1970 + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Days since 1970-01-01; the month must be 1 to 12.
    @inline(__always)
    package var daysSince1970: Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = shiftedYear.flooredDivision(by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The number of days in the month.
    package static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension CivilDate: CustomStringConvertible {
    package var description: String {
        let yearText = "\(year)"
        let padding = String(repeating: "0", count: max(0, 4 - yearText.utf8.count))
        return "\(padding)\(yearText)-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)"
    }
}

extension Int64 {
    @inline(__always)
    package func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
