/// The progress of a copy.
public struct CopyProgress: Sendable, Equatable {
    /// The steps that take time.
    public enum Step: String, Sendable {
        /// Rows are written to the target.
        case copying
        /// Each row of the target is read and compared with the source's.
        case comparing
    }

    /// The current step.
    public var step: Step
    public var table: String
    /// The rows that this step has processed, in all tables.
    public var done: Int64
    /// The number of those rows that an earlier run copied.
    public var doneBefore: Int64
    /// The rows of all tables.
    public var total: Int64
}
