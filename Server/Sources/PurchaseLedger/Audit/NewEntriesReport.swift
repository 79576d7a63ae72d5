/// The result of an audit of the entries after a checkpoint, and of the rows that they touched.
public struct NewEntriesReport: Sendable, Equatable {
    /// The number of leaves of the checkpoint.
    public var since: Int64
    /// The number of entries after it, with those that are not in the log yet.
    public var entries = 0
    /// The number of pieces of evidence of these entries.
    public var evidence = 0
    /// The number of originals that these entries are about.
    public var originals = 0
    /// The number of customers that these entries are about.
    public var customers = 0
    /// The findings, at most `NewEntriesAudit.findings`.
    public var findings: [AuditFinding] = []
    /// The number of further findings.
    public var omitted = 0

    /// What the audit did not examine.
    public static let unexamined = [
        "entries before the checkpoint and their evidence, except evidence of the purchases that newer entries touched",
        "rows that no newer entry touched",
        "the units that consumption took before the checkpoint",
        "keys, settings and what they make count, testers, tokens, orders, notifications and events",
        "indexes and the schema",
        "tiles of the log before the checkpoint, except the hashes that its root needs",
    ]
}
