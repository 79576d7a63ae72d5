public import Foundation

/// A length of time in the units that the store sells in, written as in ISO 8601: `P3D`, `P1W`, `P1M`, `P1Y`.
public struct StorePeriod: Hashable, Sendable {
    /// The number of units.
    public let count: Int
    public let unit: Unit

    /// The units, by their letters.
    public enum Unit: String, Sendable {
        /// Days, weeks, months and years of the Gregorian calendar, in UTC.
        case day = "D", week = "W", month = "M", year = "Y"
    }

    /// A period of at least one and at most 10,000 units; nil otherwise.
    public init?(_ count: Int, _ unit: Unit) {
        guard (1...10_000).contains(count) else { return nil }
        self.count = count
        self.unit = unit
    }

    /// Reads the format of ISO 8601 with one unit; nil if the text has another format.
    public init?(_ text: String) {
        guard text.hasPrefix("P"), let letter = text.last, let unit = Unit(rawValue: String(letter)),
            let count = Int(text.dropFirst().dropLast())
        else { return nil }
        self.init(count, unit)
    }

    /// The time that is this period after another time. Months are clamped to their last day: a month after January 31
    /// is the end of February.
    public func end(from start: Date, periods: Int = 1) -> Date {
        let total = count * periods
        var components = DateComponents()
        switch unit {
        case .day: components.day = total
        case .week: components.day = total * 7
        case .month: components.month = total
        case .year: components.year = total
        }
        // The calendar has an answer for every date that the store's clock can show.
        return Self.calendar.date(byAdding: components, to: start) ?? start
    }

    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()
}

extension StorePeriod: CustomStringConvertible {
    /// The period as in ISO 8601.
    public var description: String { "P\(count)\(unit.rawValue)" }
}

extension StorePeriod: Codable {
    /// Reads the period from its text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let period = StorePeriod(text) else {
            throw MalformedValue.error(
                "'\(text.prefix(40))' is not a period such as P1M.", at: container.codingPath)
        }
        self = period
    }

    /// Writes the period as its text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
