import Foundation

/// The relation of the store's time to the world's: it stands still, runs, or runs faster.
struct StoreClock: Codable, Equatable, Sendable {
    /// What the store's clock showed …
    var storeTime: Date
    /// … when the world's showed this.
    var worldTime: Date
    /// Seconds of the store for each second of the world; 0 stands still.
    var rate: Double

    /// What the store's clock should show.
    func now(_ world: Date) -> Date {
        let elapsed = max(0, world.timeIntervalSince(worldTime))
        return storeTime.addingTimeInterval(elapsed * rate)
    }

    /// Ten years of the store in a second are the fastest.
    static let fastestRate = 10.0 * 366 * 86_400
}
