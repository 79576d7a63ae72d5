/// How long claims wait for the App Store.
public struct AppStoreTiming: Sendable {
    /// How long a request waits for the App Store before it is answered with 503: as long as one attempt may take.
    public var answersWithin = Duration.seconds(10)
    /// How long a claim waits at most, in milliseconds.
    public var givesUpAfter: Int64 = 72 * 3_600_000
    /// How often the server looks for claims that are due.
    public var looksEvery = Duration.seconds(1)

    public init() {}

    /// The claims that a server asks about at the same time. A reply has up to 32 MiB.
    static let atOnce = 32

    /// The pause after this number of unanswered questions about a claim, in milliseconds: 5 s, doubling up to 10
    /// minutes.
    static func pause(after attempts: Int) -> Int64 {
        let doublings = min(max(0, attempts - 1), 7)
        return min(5000 << Int64(doublings), 600_000)
    }
}
