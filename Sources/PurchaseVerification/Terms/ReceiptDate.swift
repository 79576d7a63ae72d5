/// The dates of receipts: RFC 3339, with a fraction in receipts of Mac apps, and with a zone offset without colon in
/// those of Xcode (`2020-07-22T18:33:15+0100`).
enum ReceiptDate {
    /// The time of `YYYY-MM-DDTHH:MM:SSZ`, the format of nearly all dates; `nil` for every other text, including other
    /// dates.
    @inline(__always)
    static func readUTCSeconds(_ bytes: Span<UInt8>, _ range: Range<Int>) -> AppStoreTime? {
        guard range.count == 20, range.lowerBound >= 0, range.upperBound <= bytes.count else { return nil }
        return readUTCSeconds(unchecked: bytes.bytes, range.lowerBound)
    }

    /// The same for the 20 bytes from the offset; the caller has checked that they are in range.
    @inline(__always)
    static func readUTCSeconds(unchecked bytes: RawSpan, _ start: Int) -> AppStoreTime? {
        let first = UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
        let second = UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: start &+ 8, as: UInt64.self))
        let third = UInt32(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: start &+ 16, as: UInt32.self))
        return utcSeconds(first, second, third)
    }

    /// The same for its 20 characters in three words, the first character in the highest byte.
    @inline(__always)
    static func utcSeconds(_ first: UInt64, _ second: UInt64, _ third: UInt32) -> AppStoreTime? {
        // The separators in their positions, and only the upper half of a digit elsewhere: YYYY-MM- DDTHH:MM :SSZ
        guard first & 0xF0F0_F0F0_FFF0_F0FF == 0x3030_3030_2D30_302D,
            second & 0xF0F0_FFF0_F0FF_F0F0 == 0x3030_5430_303A_3030, third & 0xFFF0_F0FF == 0x3A30_305A
        else { return nil }
        // Adding six carries a digit above nine into the upper half.
        guard ((first & 0x0F0F_0F0F_000F_0F00) &+ 0x0606_0606_0006_0600) & 0xF0F0_F0F0_00F0_F000 == 0,
            ((second & 0x0F0F_000F_0F00_0F0F) &+ 0x0606_0006_0600_0606) & 0xF0F0_00F0_F000_F0F0 == 0,
            ((third & 0x000F_0F00) &+ 0x0006_0600) & 0x00F0_F000 == 0
        else { return nil }
        let year = number(first, 48) &* 100 &+ number(first, 32)
        let (month, day) = (number(first, 8), number(second, 48))
        let (hour, minute, seconds) = (number(second, 24), number(second, 0), number(UInt64(third), 8))
        guard month >= 1, month <= 12, day >= 1, day <= 28 || day <= CivilDate.days(inMonth: month, of: year),
            hour < 24, minute < 60, seconds < 60
        else { return nil }
        // The calculation of `CivilDate`, without the part for years before 0.
        let shiftedYear = year &- (month <= 2 ? 1 : 0) &+ 400
        let shiftedMonth = month &+ (month > 2 ? -3 : 9)
        let leapDays = shiftedYear / 4 &- shiftedYear / 100 &+ shiftedYear / 400
        let dayOfYear = (153 &* shiftedMonth &+ 2) / 5 &+ day
        let days = 365 &* shiftedYear &+ leapDays &+ dayOfYear &- 865_566
        let secondsOfDay = (hour &* 60 &+ minute) &* 60 &+ seconds
        return AppStoreTime(millisecondsSince1970: (days &* 86_400 &+ secondsOfDay) &* 1000)
    }

    /// The time, or `nil` if the text is not a date in this format.
    static func read(_ bytes: Span<UInt8>, _ range: Range<Int>) -> AppStoreTime? {
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
        return AppStoreTime(millisecondsSince1970: milliseconds)
    }

    /// The number of two digits; the second digit is this many bits up in the word.
    @inline(__always)
    private static func number(_ word: UInt64, _ shift: UInt64) -> Int64 {
        Int64(truncatingIfNeeded: (word >> (shift &+ 8) & 0xF) &* 10 &+ (word >> shift & 0xF))
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
