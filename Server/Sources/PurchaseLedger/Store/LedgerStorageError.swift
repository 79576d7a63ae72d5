/// An error of the database. Except for `outcomeUnknown`, nothing was written.
public struct LedgerStorageError: Error, Sendable, Equatable {
    /// The kind of the error, which is stable.
    public let kind: Kind
    /// The engine's own message, for the operator's log.
    public let detail: String

    /// An error of a kind, with the engine's message.
    public init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail
    }

    /// The kinds of storage errors.
    public enum Kind: String, Sendable, CaseIterable {
        /// The schema refused a row: a duplicate key, a missing value, or a change of an append-only table.
        case constraint = "database_constraint"
        /// Another process holds a lock on the database.
        case busy = "database_busy"
        /// Too many writes are waiting.
        case overloaded = "database_overloaded"
        /// The disk is full.
        case full = "database_full"
        /// The database is read-only.
        case readOnly = "database_read_only"
        /// The database cannot be opened or reached.
        case unavailable = "database_unavailable"
        /// The database is damaged, or not a database of Assay.
        case corrupt = "database_corrupt"
        /// A newer version of Assay created or migrated the database.
        case schemaTooNew = "database_schema_too_new"
        /// The database is under rules of a newer version of Assay.
        case rulesTooNew = "database_rules_too_new"
        /// The database lacks migrations that this version needs.
        case schemaTooOld = "database_schema_too_old"
        /// The migrations of the database are not those of this version: it was created by a version of Assay before
        /// the first release.
        case schemaUnknown = "database_schema_unknown"
        /// The database is the target of an unfinished copy.
        case copyUnfinished = "database_copy_unfinished"
        /// The ledger was copied to another database, or is being copied.
        case moved = "database_moved"
        /// The app moved into another ledger.
        case appMoved = "app_moved"
        /// The database was closed.
        case closed = "database_closed"
        /// Another transaction changed rows that this one had read. The caller may retry.
        case conflict = "database_conflict"
        /// The connection broke during the commit: the write may or may not be stored.
        case outcomeUnknown = "database_outcome_unknown"
        /// Any other error, such as an invalid statement: a bug in Assay.
        case other = "database_error"

        /// The error as one sentence.
        public var sentence: String {
            switch self {
            case .constraint: "The database refused the row."
            case .busy: "Another process holds a lock on the database."
            case .overloaded: "Too many writes are waiting."
            case .full: "The disk of the database is full."
            case .readOnly: "The database is read-only."
            case .unavailable: "The database cannot be opened or read."
            case .corrupt: "The database is damaged, or not a database of Assay."
            case .schemaTooNew: "A newer version of Assay migrated the database; use that version."
            case .rulesTooNew: "A newer version of Assay decides by newer rules; use that version."
            case .schemaTooOld: "The database needs migrations; run assay database migrate."
            case .schemaUnknown: "A version of Assay before the first release created the database; name a new file."
            case .copyUnfinished:
                "The database is an unfinished copy; run the same assay database copy again, or name another database."
            case .moved:
                "assay database copy moved the ledger; use the other one, or open this with assay database copy --reopen."
            case .appMoved: "The app moved into another ledger; ask the servers of that one."
            case .closed: "The database is closed."
            case .conflict: "Another transaction changed the same rows."
            case .outcomeUnknown: "The connection broke during the commit; the write may be stored."
            case .other: "The database failed."
            }
        }
    }
}

extension LedgerStorageError: CustomStringConvertible {
    public var description: String { "\(kind.rawValue): \(kind.sentence) (\(detail))" }
}
