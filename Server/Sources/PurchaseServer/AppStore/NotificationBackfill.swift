import AppStoreConnection
import Foundation
import PurchaseLedger
import PurchaseVerification

/// Where the backfill of an app's notifications stands.
struct NotificationBackfill: Codable, Equatable {
    /// The end of the newest period whose notifications are all known, in milliseconds since 1970.
    var seen: Int64?
    /// The end of the newest period that reached back `longOverlap`, in milliseconds since 1970.
    var seenAgain: Int64?
    /// The beginning of the oldest period with a notification that this version cannot read. It is read again, so that
    /// a newer version receives it.
    var undecided: Int64?
    /// Whether the period that is being read has such a notification; `nil` if it has none.
    var isUndecided: Bool?
    /// The period that is being read.
    var from: Int64?
    var to: Int64?
    /// The beginning of its window that is being read; `nil` for the first one.
    var windowFrom: Int64?
    /// The token of the window's next page.
    var token: String?
    /// The pages of the window before that.
    var pages: Int?

    /// How much is read again: Apple's clock and ours differ, and a notification may be listed late.
    static let overlap: Int64 = 3_600_000
    /// How much is read again once a day: a list of notifications is not signed as a whole, so an old or shortened one
    /// cannot be told from a true one.
    static let longOverlap: Int64 = 2 * 86_400_000
    /// The time between two readings of `longOverlap`.
    static let longInterval: Int64 = 86_400_000
    /// The time between two backfills.
    static let interval: Int64 = 3_600_000
    /// The length of a window: a large shop has more than a hundred notifications a day, and a list that is read in
    /// parts begins again at the part that failed.
    static let windowLength: Int64 = 86_400_000
    /// The pages of one turn; then other work has its turn.
    static let pagesPerTurn = 50

    /// How far Apple's history reaches back, less an hour.
    static func reach(_ environment: ValidationEnvironment) -> Int64 {
        (environment == .production ? 180 : 30) * 86_400_000 - 3_600_000
    }

    init() {}

    /// Reads recorded progress; nothing is known of what cannot be read.
    init(_ progress: String?) {
        self = progress.flatMap { try? JSONDecoder().decode(Self.self, from: Data($0.utf8)) } ?? Self()
    }

    var progress: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Numbers and a text always can be encoded.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// Begins a period, unless one is being read. The first one is as long as Apple's history: notifications can have
    /// been lost at any time before.
    mutating func begin(at now: Int64, _ environment: ValidationEnvironment) {
        let earliest = now - Self.reach(environment)
        guard let from, to != nil else {
            let isLong = seenAgain.map { now - $0 >= Self.longInterval } ?? true
            let again = seen.map { isLong ? min($0 - Self.longOverlap, undecided ?? .max) : $0 - Self.overlap }
            from = max(earliest, again ?? earliest)
            to = now
            begin(windowAt: nil)
            return
        }
        // It was interrupted: what came meanwhile belongs to it, too. A token names the end that was asked for first.
        if token == nil { to = now }
        // Perhaps for so long that Apple's history no longer begins there.
        self.from = max(from, earliest)
        if windowFrom ?? from < earliest { begin(windowAt: nil) }
    }

    /// What the window that is being read asks for.
    var window: GetNotificationHistory.Filter {
        let (start, end) = (windowFrom ?? from ?? 0, to ?? 0)
        return GetNotificationHistory.Filter(from: start, to: min(start + Self.windowLength, end))
    }

    private mutating func begin(windowAt start: Int64?) { (windowFrom, token, pages) = (start, nil, nil) }

    /// Reads the window again from its first page.
    mutating func beginWindowAgain() { begin(windowAt: windowFrom) }

    /// Lets the period begin a day later.
    ///
    /// - Returns: whether something of it is left.
    mutating func isShortened() -> Bool {
        let later = window.startDate + 86_400_000
        guard let to, later < to else { return false }
        from = later
        begin(windowAt: nil)
        return true
    }

    /// The window was read to its end.
    ///
    /// - Returns: whether the period was, too.
    mutating func endWindow() -> Bool {
        let next = window.endDate
        guard let to, next < to else {
            end()
            return true
        }
        begin(windowAt: next)
        return false
    }

    /// The period was read to its end.
    private mutating func end() {
        if let from, let to {
            let isLong = seen.map { from <= $0 - Self.longOverlap } ?? true
            if isLong { (seenAgain, undecided) = (to, nil) }
            if isUndecided == true { undecided = min(undecided ?? .max, from) }
        }
        (seen, isUndecided) = (to, nil)
        (from, to) = (nil, nil)
        begin(windowAt: nil)
    }
}
