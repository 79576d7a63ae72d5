/// The result of an audit of the Merkle log.
public struct LogAuditReport: Sendable, Equatable {
    /// The number of leaves.
    public var size: Int64 = 0
    /// The number of entries that are not in the log yet, and since when. A pending entry is not a finding.
    public var pending = PendingEntries(count: 0, oldest: nil)
    /// `sealing_late`: an entry waits longer than it should. No server seals, or the one that does cannot.
    public var isSealingLate = false
    /// Whether the codes of entries were checked, which needs the key of entries.
    public var hasCheckedCodes = false
    /// The findings, at most `LogAudit.findings`.
    public var findings: [LogFinding] = []
    /// The number of further findings.
    public var omitted = 0
    /// The checkpoints of origins that ended, which the log does not cover any more and says why.
    public var continuations: [String] = []
}

/// Something in the Merkle log that is not as it was sealed or signed.
public struct LogFinding: Sendable, Equatable {
    public var kind: Kind
    /// The error, for people.
    public var detail: String

    /// The kinds of findings.
    public enum Kind: String, Sendable, CaseIterable {
        /// The root at a checkpoint's size is not the checkpoint's.
        case recordRewritten = "record_rewritten"
        /// The log has fewer leaves than a checkpoint.
        case recordShorter = "record_shorter_than_checkpoint"
        /// A leaf, or the entry of a leaf, is missing.
        case leafMissing = "leaf_missing"
        /// A leaf lies behind the size of the log.
        case leafUnknown = "leaf_unknown"
        /// The leaves have another root than the log states.
        case rootDiffers = "root_differs"
        /// A stored tile is not that of its leaves.
        case tileDiffers = "tile_differs"
        /// No server with the key wrote the entry.
        case entryNotAuthentic = "entry_not_authentic"
        /// An entry is neither in the log nor pending.
        case entryForgotten = "entry_forgotten"
        /// Something is pending that cannot be sealed.
        case pendingRefused = "pending_refused"
        /// Something could not be read, so that what follows was not looked at.
        case auditIncomplete = "audit_incomplete"
        /// The database names another key of entries than the one that is given.
        case entryKeyDiffers = "entry_key_differs"
    }
}
