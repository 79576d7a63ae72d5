import Foundation

/// The relation of store time to real time: stopped, in step, or faster.
struct StoreClock: Codable, Equatable, Sendable {
    /// The store time at the reference point.
    var storeTime: Date
    /// The real time at the reference point.
    var worldTime: Date
    /// Seconds of store time per second of real time; 0 means that the clock is stopped.
    var rate: Double

    /// The store time at a real time.
    func now(_ world: Date) -> Date {
        let elapsed = max(0, world.timeIntervalSince(worldTime))
        return storeTime.addingTimeInterval(elapsed * rate)
    }

    /// Ten years of the store in a second are the fastest.
    static let fastestRate = 10.0 * 366 * 86_400
}
