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
    /// Whether a finding, also one that was only counted, is about what the tables are computed from.
    var isOfJournal = false
    /// The number of leaves of the kept fold that was continued; `nil` if everything was examined.
    public var since: Int64?
    /// The numbers of originals and of customers whose rows were compared, if a kept fold was continued.
    public var originals = 0
    public var customers = 0

    /// What an audit that continues a kept fold does not examine.
    public static let unexamined = [
        "entries of the kept fold and their evidence", "purchases and customers that no newer entry touched",
        "settings, keys, testers, tokens, notifications and events", "indexes and the schema",
        "tiles of the log before the kept fold's end, except the hashes that its root needs",
    ]
}

/// The result of an audit of the log and of the tables.
public struct AuditOutcome: Sendable, Equatable {
    public var log: LogAuditReport
    public var report: AuditReport

    /// Whether the ledger can be rebuilt: no finding is about what it is computed from.
    public var isRebuilt: Bool { log.findings.isEmpty && !report.isOfJournal }
}

/// The progress of an audit.
public struct AuditProgress: Sendable, Equatable {
    /// The entries that were read.
    public var done: Int64
    /// The number of the newest entry when the audit began.
    public var total: Int64
}

/// A difference between the Merkle log and what was sealed or signed.
public struct LogFinding: Sendable, Equatable {
    public var kind: Kind
    /// The error, as a sentence.
    public var detail: String

    /// The kinds of findings.
    public enum Kind: String, Sendable, CaseIterable {
        /// The root at a checkpoint's size differs from the checkpoint.
        case recordRewritten = "record_rewritten"
        /// The log has fewer leaves than a checkpoint.
        case recordShorter = "record_shorter_than_checkpoint"
        /// A leaf, or the entry of a leaf, is missing.
        case leafMissing = "leaf_missing"
        /// A leaf is beyond the size of the log.
        case leafUnknown = "leaf_unknown"
        /// The leaves have another root than the log states.
        case rootDiffers = "root_differs"
        /// A stored tile differs from its leaves.
        case tileDiffers = "tile_differs"
        /// A stored tile is not full at the log's size, so the log cannot grow over it.
        case tileUnknown = "tile_unknown"
        /// The entry was not written by a server with the key.
        case entryNotAuthentic = "entry_not_authentic"
        /// An entry is neither in the log nor pending.
        case entryForgotten = "entry_forgotten"
        /// A pending entry cannot be sealed.
        case pendingRefused = "pending_refused"
        /// Something could not be read, so the rest was not checked.
        case auditIncomplete = "audit_incomplete"
        /// The database names a key of entries other than the given one.
        case entryKeyDiffers = "entry_key_differs"
    }
}

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
    /// The checkpoints of ended origins that the log no longer covers, each with the recorded reason, and where an app
    /// came from.
    public var continuations: [String] = []
}
