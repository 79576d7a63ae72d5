/// The result of an audit of the Merkle log.
public struct LogAuditReport: Sendable, Equatable {
    /// The number of leaves.
    public var size: Int64 = 0
    /// The number of leaves that were not read, because the stored tiles give the root of a checkpoint of this size;
    /// `nil` if all were to be read.
    public var since: Int64?
    /// The number of entries that are not in the log yet, and since when. A pending entry is not a finding.
    public var pending = PendingEntries(count: 0, oldest: nil, refused: 0)
    /// `sealing_late`: an entry has been pending for too long. No server seals, or the one that does fails.
    public var isSealingLate = false
    /// Whether the codes of entries were checked, which requires the key of entries.
    public var hasCheckedCodes = false
    /// The findings, at most `LogAudit.findings`.
    public var findings: [LogFinding] = []
    /// The number of further findings.
    public var omitted = 0
    /// The checkpoints of ended origins that the log no longer covers, each with the recorded reason.
    public var continuations: [String] = []
}
