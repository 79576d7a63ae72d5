import Foundation

/// The components of a date in the proleptic Gregorian calendar, as certificates and receipts write them.
struct CivilTime {
    let year: Int
    let month: Int
    let day: Int
    let hour: Int
    let minute: Int
    let second: Int
    let millisecond: Int

    /// - Parameter offset: seconds east of UTC by which the clock on the wall differs.
    init(_ date: Date, offset: Int = 0) {
        let milliseconds = Int((date.timeIntervalSince1970 * 1000).rounded()) + offset * 1000
        let (days, inDay) = milliseconds.dividedFloor(by: 86_400_000)
        hour = inDay / 3_600_000
        minute = inDay / 60_000 % 60
        second = inDay / 1000 % 60
        millisecond = inDay % 1000

        // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": civil_from_days. Years begin in March.
        let (era, dayOfEra) = (days + 719_468).dividedFloor(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The days since 1970-01-01 (Hinnant, days_from_civil).
    static func days(year: Int, month: Int, day: Int) -> Int {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).dividedFloor(by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// `2024-01-31T12:34:56`
    var internet: String {
        let date = "\(year.padded(4))-\(month.padded(2))-\(day.padded(2))"
        return "\(date)T\(hour.padded(2)):\(minute.padded(2)):\(second.padded(2))"
    }

    /// `2024-01-31 12:34:56`
    var spaced: String {
        let date = "\(year.padded(4))-\(month.padded(2))-\(day.padded(2))"
        return "\(date) \(hour.padded(2)):\(minute.padded(2)):\(second.padded(2))"
    }

    /// `0131123456Z`: the part after the year, which UTCTime and GeneralizedTime share.
    var afterYear: String {
        "\(month.padded(2))\(day.padded(2))\(hour.padded(2))\(minute.padded(2))\(second.padded(2))Z"
    }
}

extension Int {
    /// The decimal digits, with leading zeros up to a width.
    func padded(_ width: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
    }

    fileprivate func dividedFloor(by divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
