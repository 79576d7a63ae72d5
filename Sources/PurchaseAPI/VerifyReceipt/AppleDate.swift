import Foundation
import Synchronization

/// A date as `verifyReceipt` writes it: three times, in Greenwich, in milliseconds and in Los Angeles.
///
/// `x` = `2023-06-21 09:14:02 Etc/GMT`, `x_ms` = `1687338842000` (a string), `x_pst` = the wall clock of
/// `America/Los_Angeles`, daylight saving included.
public struct AppleDate: Sendable, Hashable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public let millisecondsSince1970: Int64

    public init(millisecondsSince1970: Int64) {
        self.millisecondsSince1970 = millisecondsSince1970
    }

    /// The moment with its fraction of a second cut off, as Apple answers with the dates of a receipt.
    public var inWholeSeconds: AppleDate {
        AppleDate(millisecondsSince1970: floored(millisecondsSince1970, by: 1000).quotient * 1000)
    }

    /// `yyyy-MM-dd HH:mm:ss Etc/GMT`.
    public var greenwich: String {
        String(decoding: text { Self.append(self.millisecondsSince1970, 0, " Etc/GMT", to: &$0) }, as: UTF8.self)
    }

    /// `yyyy-MM-dd HH:mm:ss America/Los_Angeles`.
    public var losAngeles: String {
        String(decoding: text { self.appendLosAngeles(to: &$0) }, as: UTF8.self)
    }

    /// Writes the three members.
    func write(
        _ key: StaticString, _ millisecondsKey: StaticString, _ pacificKey: StaticString, to json: inout JSONWriter
    ) {
        json.key(key)
        json.plainString { Self.append(millisecondsSince1970, 0, " Etc/GMT", to: &$0) }
        json.key(millisecondsKey)
        json.plainString { $0 += Array("\(millisecondsSince1970)".utf8) }
        json.key(pacificKey)
        json.plainString { appendLosAngeles(to: &$0) }
    }

    private func appendLosAngeles(to text: inout [UInt8]) {
        let offset = PacificTime.shared.secondsFromGreenwich(at: floored(millisecondsSince1970, by: 1000).quotient)
        Self.append(millisecondsSince1970, offset, " America/Los_Angeles", to: &text)
    }

    private func text(_ write: (inout [UInt8]) -> Void) -> [UInt8] {
        var text: [UInt8] = []
        write(&text)
        return text
    }

    private static func append(
        _ milliseconds: Int64, _ offset: Int64, _ zone: StaticString, to text: inout [UInt8]
    ) {
        let seconds = floored(milliseconds, by: 1000).quotient + offset
        let (days, time) = floored(seconds, by: 86_400)
        let (year, month, day) = civil(days)
        if year > 9999 || year < 0 {
            text += Array("\(year)".utf8)
        } else {
            two(year / 100, &text)
            two(year % 100, &text)
        }
        text.append(UInt8(ascii: "-"))
        two(month, &text)
        text.append(UInt8(ascii: "-"))
        two(day, &text)
        text.append(UInt8(ascii: " "))
        two(time / 3600, &text)
        text.append(UInt8(ascii: ":"))
        two(time / 60 % 60, &text)
        text.append(UInt8(ascii: ":"))
        two(time % 60, &text)
        zone.withUTF8Buffer { text.append(contentsOf: $0) }
    }

    private static func two(_ number: Int64, _ text: inout [UInt8]) {
        text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10))
        text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
    }

    /// The Gregorian day that lies so many days after 1970-01-01; years are laid out from March, leap day last.
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

/// The offset of America/Los_Angeles, from Foundation's time zone data, asked once for each stretch of time with one offset:
/// an answer of 200 purchases asks 800 times.
final class PacificTime: Sendable {
    static let shared = PacificTime()

    private struct Stretch {
        var start: Int64
        let end: Int64
        let offset: Int64
    }

    private let zone = TimeZone(identifier: "America/Los_Angeles")
    private let stretches = Mutex<[Stretch]>([])

    func secondsFromGreenwich(at seconds: Int64) -> Int64 {
        stretches.withLock { stretches in
            if let known = stretches.last(where: { $0.start <= seconds && seconds < $0.end }) { return known.offset }
            return find(seconds, &stretches)
        }
    }

    private func find(_ seconds: Int64, _ stretches: inout [Stretch]) -> Int64 {
        let moment = Date(timeIntervalSince1970: Double(seconds))
        // Without time zone data, Pacific Standard Time.
        guard let zone else { return -8 * 3600 }
        let offset = Int64(zone.secondsFromGMT(for: moment))
        guard let end = zone.nextDaylightSavingTimeTransition(after: moment).map({ Int64($0.timeIntervalSince1970) }),
            end > seconds
        else { return offset }
        if let index = stretches.firstIndex(where: { $0.end == end }) {
            stretches[index].start = min(stretches[index].start, seconds)
        } else {
            // Two a year since 2008; dates far away must not fill the memory.
            if stretches.count >= 128 { stretches.removeFirst() }
            stretches.append(Stretch(start: seconds, end: end, offset: offset))
        }
        return offset
    }
}
