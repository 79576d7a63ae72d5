import Foundation

/// The time by which entitlements end: a device's clock can be wrong by years, and its owner can set it back.
struct TimeMark: Codable, Equatable {
    /// The latest time that decided.
    private(set) var latest: Date?
    /// The newest signed time.
    private(set) var signed: Date?
    /// How far the device's clock was ahead of the newest fresh signed time: an answer, or a purchase of this moment.
    private(set) var ahead: Double?

    /// The time that decides: the earliest that is possible after the newest signed time. The device's clock may still
    /// be wrong by as much as it was, or may have been corrected. It is never before the mark, so that setting the
    /// clock back gains nothing.
    func time(_ device: Date) -> Date {
        let floor = [latest, signed].compactMap(\.self).max()
        guard let signed else { return max(device, floor ?? device) }
        let possible = [device, device.addingTimeInterval(-(ahead ?? 0))].filter { $0 >= signed }.min()
        return max(possible ?? signed, floor ?? signed)
    }

    /// Moves the mark to a time that was seen.
    mutating func see(_ time: Date) { latest = max(time, latest ?? time) }

    /// A newer signed time replaces the mark, also by an earlier one: the clock was wrong when the mark was set. A
    /// fresh one, which a nonce proves, is always the newest: if it is much earlier than the newest signed time, the
    /// server's clock was ahead then.
    ///
    /// - Returns: whether it is newer.
    mutating func see(signed date: Date, isFresh: Bool, device: Date) -> Bool {
        let newest = signed ?? .distantPast
        guard isFresh || date > newest else { return false }
        let new = newest.timeIntervalSince(date) <= Self.tolerance ? max(date, newest) : date
        (signed, latest) = (new, new)
        if isFresh { ahead = device.timeIntervalSince(date) }
        return true
    }

    /// How far the clocks of the App Store and of the server may differ, and how late an answer may arrive, in seconds.
    static let tolerance: Double = 300
}
