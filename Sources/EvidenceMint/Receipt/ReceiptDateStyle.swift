import Foundation

/// The format of dates in a receipt (RFC 3339, in an IA5String).
public enum ReceiptDateStyle: Hashable, Sendable {
    /// `2024-10-30T10:46:36Z`: nearly every receipt.
    case seconds
    /// `2020-10-08T11:17:49.131Z` in attributes 8 and 18, seconds elsewhere: seen in receipts for the Mac.
    case milliseconds
    /// `2021-04-03T22:38:45+0300` in the receipt, with no colon in the zone, and `Z` in its purchases: seen from
    /// Xcode. The offset is in minutes east of UTC.
    case numericOffset(minutes: Int)
}

extension ReceiptDateStyle {
    /// The text of an attribute of the receipt itself.
    func text(_ date: Date, attribute: Int) -> String {
        switch self {
        case .milliseconds where attribute == 8 || attribute == 18:
            let time = CivilTime(date)
            return "\(time.internet).\(time.millisecond.padded(3))Z"
        case .numericOffset(let minutes):
            let time = CivilTime(date, offset: minutes * 60)
            let zone = (abs(minutes) / 60).padded(2) + (abs(minutes) % 60).padded(2)
            return time.internet + (minutes < 0 ? "-" : "+") + zone
        case .seconds, .milliseconds:
            return Self.plain(date)
        }
    }

    /// The text of a date in a purchase, which has the same format everywhere.
    static func plain(_ date: Date) -> String {
        CivilTime(date).internet + "Z"
    }
}
