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
