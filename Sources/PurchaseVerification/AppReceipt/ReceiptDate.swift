/// The dates of receipts: RFC 3339, with a fraction in receipts of Mac apps, and with a zone offset without colon in those of
/// Xcode (`2020-07-22T18:33:15+0100`).
enum ReceiptDate {
    /// The moment, or `nil` if the text is no date of this form.
    static func read(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Timestamp? {
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
        return Timestamp(millisecondsSince1970: milliseconds)
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
            // Nine digits are nanoseconds; nobody writes more.
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

    /// Two digits; the caller has checked that they lie in the bytes.
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
