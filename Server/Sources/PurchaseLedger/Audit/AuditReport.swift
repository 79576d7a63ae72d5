/// The result of an audit.
public struct AuditReport: Sendable, Equatable {
    /// The number of journal entries.
    public var entries: Int
    /// The number of pieces of evidence, without erased ones.
    public var evidence: Int
    /// The number of entries that have no place in the Merkle log yet.
    public var pending: Int
    public var findings: [AuditFinding]
    /// The number of further findings; a lower bound.
    public var omitted = 0
    /// What was wrong with indexes before a repair made them again.
    public var repairedIndexes: [AuditFinding] = []
}
