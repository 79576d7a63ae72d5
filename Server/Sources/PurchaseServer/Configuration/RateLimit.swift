/// A rate: a number per second, and a number at once after a pause.
public struct RateLimit: Sendable, Equatable {
    /// The number per second.
    public var perSecond: Double
    /// The number at once.
    public var burst: Double

    /// A limit.
    public init(perSecond: Double, burst: Double) {
        self.perSecond = perSecond
        self.burst = burst
    }

    /// The number of seconds until there is a token, given the number of tokens now; `nil` if there is one.
    func wait(_ tokens: Double) -> Double? {
        tokens >= 1 ? nil : (1 - tokens) / perSecond
    }
}
