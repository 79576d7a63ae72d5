import TextFormats

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
        WrittenTime.milliseconds(bytes, range).map { AppStoreTime(millisecondsSince1970: $0) }
    }

    /// The number of two digits; the second digit is this many bits up in the word.
    @inline(__always)
    private static func number(_ word: UInt64, _ shift: UInt64) -> Int64 {
        Int64(truncatingIfNeeded: (word >> (shift &+ 8) & 0xF) &* 10 &+ (word >> shift & 0xF))
    }
}

/// Both ways to read a date, for the test that they agree.
package enum ReceiptDateForms {
    package static func short(_ bytes: [UInt8]) -> AppStoreTime? {
        let slice = bytes[...]
        return ReceiptDate.readUTCSeconds(slice.span, 0..<bytes.count)
    }

    package static func long(_ bytes: [UInt8]) -> AppStoreTime? {
        let slice = bytes[...]
        return ReceiptDate.read(slice.span, 0..<bytes.count)
    }
}
