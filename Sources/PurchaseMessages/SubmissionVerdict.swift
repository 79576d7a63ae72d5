/// The result of a submission.
public struct SubmissionVerdict: WireEnumeration {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let accepted = SubmissionVerdict(rawValue: "accepted")
    public static let rejected = SubmissionVerdict(rawValue: "rejected")
    /// It could not be decided yet: it waits for the App Store.
    public static let undetermined = SubmissionVerdict(rawValue: "undetermined")
}
