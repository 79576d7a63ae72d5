/// The pauses before a question is asked again, within one call.
public enum RetryPauses {
    /// Three more attempts: after half a second, a second, and two.
    public static let seconds: [Double] = [0.5, 1, 2]

    /// How much a pause is lengthened or shortened at most, so that servers that failed together do not return together.
    public static let jitter = 0.5

    /// The pause after so many undetermined attempts; `nil` if there is no further one.
    ///
    /// - Parameter random: from -1 to 1.
    public static func pause(after attempts: Int, _ persistence: ReplyJudgement.Persistence, random: Double)
        -> Duration?
    {
        let allowed =
            switch persistence {
            case .passing: seconds.count
            case .perhapsTheReceipt: 1
            case .lasting: 0
            }
        guard attempts >= 1, attempts <= allowed else { return nil }
        return .seconds(seconds[attempts - 1] * (1 + jitter * random))
    }
}
