import Foundation

/// The offset of America/Los_Angeles, from Foundation's time zone data, looked up once per interval with the same
/// offset: an answer with 200 purchases needs it 800 times.
final class PacificTime: @unchecked Sendable {
    static let shared = PacificTime()

    /// An interval with one offset.
    struct Stretch {
        fileprivate(set) var start: Int64
        let end: Int64
        let offset: Int64

        /// An empty interval.
        static let none = Stretch(start: 0, end: 0, offset: 0)

        func contains(_ seconds: Int64) -> Bool { start <= seconds && seconds < end }
    }

    private let zone = TimeZone(identifier: "America/Los_Angeles")
    // `Mutex` needs iOS 18 and macOS 15.
    private let lock = NSLock()
    private var stretches: [Stretch] = []

    /// The known part of the interval around the time; it contains at least that second.
    func stretch(at seconds: Int64) -> Stretch {
        lock.lock()
        defer { lock.unlock() }
        return stretches.last { $0.contains(seconds) } ?? find(seconds, &stretches)
    }

    private func find(_ seconds: Int64, _ stretches: inout [Stretch]) -> Stretch {
        let moment = Date(timeIntervalSince1970: Double(seconds))
        // Without time zone data, Pacific Standard Time.
        guard let zone else { return Stretch(start: seconds, end: seconds + 1, offset: -8 * 3600) }
        let offset = Int64(zone.secondsFromGMT(for: moment))
        guard let end = zone.nextDaylightSavingTimeTransition(after: moment).map({ Int64($0.timeIntervalSince1970) }),
            end > seconds
        else { return Stretch(start: seconds, end: seconds + 1, offset: offset) }
        if let index = stretches.firstIndex(where: { $0.end == end }) {
            stretches[index].start = min(stretches[index].start, seconds)
            return stretches[index]
        }
        // Two a year since 2008; dates far away must not fill the memory.
        if stretches.count >= 128 { stretches.removeFirst() }
        let stretch = Stretch(start: seconds, end: end, offset: offset)
        stretches.append(stretch)
        return stretch
    }
}
