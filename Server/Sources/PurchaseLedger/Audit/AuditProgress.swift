/// The progress of an audit.
public struct AuditProgress: Sendable, Equatable {
    /// The entries that were read.
    public var done: Int64
    /// The number of the newest entry when the audit began.
    public var total: Int64
}
