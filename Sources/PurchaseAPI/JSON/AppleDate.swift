import Foundation

/// A date as `verifyReceipt` writes it: three times, in Greenwich, in milliseconds and in Los Angeles.
///
/// `x` = `2023-06-21 09:14:02 Etc/GMT`, `x_ms` = `1687338842000` (a string), `x_pst` = the wall clock of
/// `America/Los_Angeles`, daylight saving included.
public struct AppleDate: Sendable, Hashable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public let millisecondsSince1970: Int64

    public init(millisecondsSince1970: Int64) { self.millisecondsSince1970 = millisecondsSince1970 }

    /// The date of a text of the form `yyyy-MM-dd HH:mm:ss Etc/GMT`; `nil` for any other.
    init?(greenwich text: [UInt8]) {
        let zone = " Etc/GMT".utf8
        guard text.count == 19 + zone.count, text.dropFirst(19).elementsEqual(zone) else { return nil }
        var numbers: [Int64] = []
        for (offset, count) in [(0, 4), (5, 2), (8, 2), (11, 2), (14, 2), (17, 2)] {
            var number: Int64 = 0
            for digit in text[offset..<offset + count] {
                guard (0x30...0x39).contains(digit) else { return nil }
                number = number * 10 + Int64(digit - 0x30)
            }
            numbers.append(number)
        }
        let seconds =
            Self.days(numbers[0], numbers[1], numbers[2]) * 86_400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
        self.init(millisecondsSince1970: seconds * 1000)
        // Separators, and days that there are.
        guard greenwich.utf8.elementsEqual(text) else { return nil }
    }

    /// The time without its fraction of a second, as Apple writes the dates of a receipt.
    public var inWholeSeconds: AppleDate {
        AppleDate(millisecondsSince1970: floored(millisecondsSince1970, by: 1000).quotient * 1000)
    }

    /// `yyyy-MM-dd HH:mm:ss Etc/GMT`.
    public var greenwich: String {
        Self.withText(millisecondsSince1970, 0, " Etc/GMT") { String(decoding: $0, as: UTF8.self) }
    }

    /// `yyyy-MM-dd HH:mm:ss America/Los_Angeles`.
    public var losAngeles: String {
        let offset = PacificTime.shared.stretch(at: seconds).offset
        return Self.withText(millisecondsSince1970, offset, " America/Los_Angeles") {
            String(decoding: $0, as: UTF8.self)
        }
    }

    private var seconds: Int64 { floored(millisecondsSince1970, by: 1000).quotient }

    /// Writes the three members.
    func write(
        _ key: StaticString, _ millisecondsKey: StaticString, _ pacificKey: StaticString, to json: inout JSONWriter
    ) {
        json.key(key)
        Self.withText(millisecondsSince1970, 0, " Etc/GMT") { json.plainString($0) }
        json.key(millisecondsKey)
        if let digits = UInt64(exactly: millisecondsSince1970) {
            json.digits(digits)
        } else {
            json.string("\(millisecondsSince1970)")
        }
        json.key(pacificKey)
        if !json.pacificStretch.contains(seconds) { json.pacificStretch = PacificTime.shared.stretch(at: seconds) }
        Self.withText(millisecondsSince1970, json.pacificStretch.offset, " America/Los_Angeles") {
            json.plainString($0)
        }
    }

    /// The text, for as long as the closure runs.
    private static func withText<Result>(
        _ milliseconds: Int64, _ offset: Int64, _ zone: StaticString,
        _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        let (days, time) = floored(floored(milliseconds, by: 1000).quotient + offset, by: 86_400)
        let (year, month, day) = civil(days)
        // A year that has other than four digits has at most ten.
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { text in
            var count = 0
            if (0...9999).contains(year) {
                count = two(year / 100, text, 0)
                count = two(year % 100, text, count)
            } else {
                for digit in "\(year)".utf8 {
                    text[count] = digit
                    count += 1
                }
            }
            count = two(month, text, separate("-", text, count))
            count = two(day, text, separate("-", text, count))
            count = two(time / 3600, text, separate(" ", text, count))
            count = two(time / 60 % 60, text, separate(":", text, count))
            count = two(time % 60, text, separate(":", text, count))
            zone.withUTF8Buffer { zone in
                for byte in zone {
                    text[count] = byte
                    count += 1
                }
            }
            return body(UnsafeBufferPointer(rebasing: text[..<count]))
        }
    }

    private static func separate(
        _ separator: Unicode.Scalar, _ text: UnsafeMutableBufferPointer<UInt8>, _ offset: Int
    ) -> Int {
        text[offset] = UInt8(ascii: separator)
        return offset + 1
    }

    /// Writes two digits and returns the position after them.
    private static func two(_ number: Int64, _ text: UnsafeMutableBufferPointer<UInt8>, _ offset: Int) -> Int {
        text[offset] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10)
        text[offset + 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10)
        return offset + 2
    }

    /// The number of days after 1970-01-01 of a Gregorian day.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let (era, yearOfEra) = floored(month <= 2 ? year - 1 : year, by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The Gregorian day at a number of days after 1970-01-01; years start in March, so that the leap day is last.
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = floored(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}

private func floored(_ number: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
}
