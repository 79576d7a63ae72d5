/// The pauses before a question is asked again, within one call.
public enum RetryPauses {
    /// Three more attempts: after half a second, a second, and two.
    public static let seconds: [Double] = [0.5, 1, 2]

    /// The maximum random change of a pause, so that servers that failed at the same moment do not return at the same
    /// moment.
    public static let jitter = 0.5

    /// The pause after this number of undetermined attempts; `nil` if there is no further attempt.
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
