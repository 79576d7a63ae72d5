/// Times as text: RFC 3339, with a fraction in receipts of Mac apps, and with a zone offset without colon in those of
/// Xcode (`2020-07-22T18:33:15+0100`). The only reader of such texts: of receipts, of arguments and of the simulator.
public enum WrittenTime {
    /// Milliseconds since 1970-01-01T00:00:00Z; `nil` if the text has another format or is followed by anything.
    public static func milliseconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)[...]
        return milliseconds(bytes.span, 0..<bytes.count)
    }

    /// The same for the bytes in a range.
    public static func milliseconds(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int64? {
        // YYYY-MM-DDTHH:MM:SS and at least a Z.
        guard range.count >= 20, range.lowerBound >= 0, range.upperBound <= bytes.count else { return nil }
        let start = range.lowerBound
        guard let century = digits(bytes, start), let yearOfCentury = digits(bytes, start + 2),
            bytes[start + 4] == UInt8(ascii: "-"), let month = digits(bytes, start + 5),
            bytes[start + 7] == UInt8(ascii: "-"), let day = digits(bytes, start + 8),
            bytes[start + 10] == UInt8(ascii: "T"), let hour = digits(bytes, start + 11),
            bytes[start + 13] == UInt8(ascii: ":"), let minute = digits(bytes, start + 14),
            bytes[start + 16] == UInt8(ascii: ":"), let second = digits(bytes, start + 17)
        else { return nil }
        let year = century * 100 + yearOfCentury
        guard month >= 1, month <= 12, day >= 1, day <= CivilDate.days(inMonth: month, of: year),
            hour < 24, minute < 60, second < 60
        else { return nil }
        let days = CivilDate(year: year, month: month, day: day).daysSince1970
        var milliseconds = (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000
        if range.count == 20 {
            guard bytes[start + 19] == UInt8(ascii: "Z") else { return nil }
        } else {
            guard let tail = tail(bytes, (start + 19)..<range.upperBound) else { return nil }
            milliseconds += tail
        }
        return milliseconds
    }

    /// The milliseconds that a fraction adds and a zone offset takes away.
    private static func tail(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int64? {
        var position = range.lowerBound
        var milliseconds: Int64 = 0
        if bytes[position] == UInt8(ascii: ".") {
            position += 1
            let first = position
            var weight: Int64 = 100
            while position < range.upperBound, let digit = digit(bytes[position]) {
                milliseconds += digit * weight
                weight /= 10
                position += 1
            }
            // Nine digits are nanoseconds, the finest precision in use.
            guard (1...9).contains(position - first) else { return nil }
        }
        guard position < range.upperBound else { return nil }
        let zone = bytes[position]
        position += 1
        if zone == UInt8(ascii: "Z") {
            return position == range.upperBound ? milliseconds : nil
        }
        guard zone == UInt8(ascii: "+") || zone == UInt8(ascii: "-") else { return nil }
        let hasColon = range.upperBound - position == 5
        guard hasColon || range.upperBound - position == 4, let hours = digits(bytes, position) else { return nil }
        guard !hasColon || bytes[position + 2] == UInt8(ascii: ":"),
            let minutes = digits(bytes, position + (hasColon ? 3 : 2)), hours < 24, minutes < 60
        else { return nil }
        let offset = (hours * 60 + minutes) * 60_000
        return milliseconds + (zone == UInt8(ascii: "+") ? -offset : offset)
    }

    /// Two digits; the caller has checked that they are in range.
    @inline(__always)
    private static func digits(_ bytes: Span<UInt8>, _ offset: Int) -> Int64? {
        guard let tens = digit(bytes[offset]), let ones = digit(bytes[offset + 1]) else { return nil }
        return tens * 10 + ones
    }

    @inline(__always)
    private static func digit(_ byte: UInt8) -> Int64? {
        let value = byte &- UInt8(ascii: "0")
        return value < 10 ? Int64(value) : nil
    }
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
