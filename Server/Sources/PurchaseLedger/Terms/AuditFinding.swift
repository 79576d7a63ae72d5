/// A difference between the database and its journal.
public struct AuditFinding: Sendable, Hashable {
    public var kind: Kind
    /// The error, as a sentence.
    public var detail: String

    /// The kinds of findings.
    public enum Kind: String, Sendable, CaseIterable {
        /// The leaf of an entry cannot be read.
        case leafMalformed = "leaf_malformed"
        /// A search column of an entry differs from its leaf.
        case columnDiffers = "column_differs"
        /// The details of an entry do not match the hash in its leaf.
        case detailsChanged = "details_changed"
        /// Details or evidence are missing without an erasure.
        case missingWithoutErasure = "missing_without_erasure"
        /// Evidence does not match its hash.
        case evidenceChanged = "evidence_changed"
        /// Evidence that was accepted is refused now, because the trusted certificates changed.
        case evidenceRefused = "evidence_refused"
        /// Something could not be read, so the rest was not checked.
        case auditIncomplete = "audit_incomplete"
        /// A claim was accepted without evidence.
        case grantWithoutEvidence = "grant_without_evidence"
        /// An entry has a lower number than one that the log has before it.
        case orderDiffers = "order_differs"
        /// An entry that cannot come at its place, such as the revocation of a key that does not exist yet.
        case entryImpossible = "entry_impossible"
        /// The recorded decision about a claim is not the one that the rules in force give.
        case decisionDiffers = "decision_differs"
        /// A table, an index, a trigger or a function is missing.
        case schemaMissing = "schema_missing"
        /// A table, an index, a trigger or a function has another definition or is disabled.
        case schemaDiffers = "schema_differs"
        /// An object that no migration creates, or a setting of a role that changes what tables show.
        case schemaUnknown = "schema_unknown"
        /// An index does not have the rows of its table, so that a lookup finds other rows than a reading of the table.
        case indexDiffers = "index_differs"
        /// An owner, an entitlement, a lot or a balance that the server writes is not the one that the rules give.
        case ruleDiffers = "rule_differs"
        /// A row of a table differs from a rebuild.
        case rowDiffers = "row_differs"
        /// A rebuild has a row that the table lacks.
        case rowMissing = "row_missing"
        /// The table has a row that a rebuild lacks.
        case rowUnknown = "row_unknown"

        /// Whether a rebuild of the ledger into a new database ends it: it is about no entry and no evidence.
        public var isMendedByRebuild: Bool {
            switch self {
            case .rowDiffers, .rowMissing, .rowUnknown, .schemaMissing, .schemaDiffers, .schemaUnknown, .indexDiffers:
                true
            default: false
            }
        }
    }

    /// Whether an error means that the content of the database is wrong, rather than that it cannot be read now.
    static func isFinding(_ error: any Error) -> Bool {
        guard let error = error as? LedgerStorageError else { return error is LedgerRefusal }
        return [.corrupt, .constraint, .other].contains(error.kind)
    }
}
