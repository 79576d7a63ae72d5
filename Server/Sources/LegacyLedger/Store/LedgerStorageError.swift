/// Why the database did not do what it was asked to. Nothing was written.
public struct LedgerStorageError: Error, Sendable, Equatable {
    /// What kind of trouble it is; the stable part.
    public let kind: Kind
    /// The engine's words, for the log of the operator.
    public let detail: String

    /// An error of a kind, with the engine's words.
    public init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail
    }

    /// The kinds of trouble, as an operator tells them apart.
    public enum Kind: String, Sendable, CaseIterable {
        /// A rule of the schema refused the row: a key that is there already, a column that must not be empty, a row that may
        /// not be changed.
        case constraint = "database_constraint"
        /// Somebody else holds the database locked.
        case busy = "database_busy"
        /// More writes wait than may wait.
        case overloaded = "database_overloaded"
        /// There is no room left for the database.
        case full = "database_full"
        /// The database cannot be written.
        case readOnly = "database_read_only"
        /// The file cannot be opened or read at all.
        case unavailable = "database_unavailable"
        /// The file is damaged, or no database of Assay.
        case corrupt = "database_corrupt"
        /// The database was made by a newer version of Assay.
        case schemaTooNew = "database_schema_too_new"
        /// The database lacks migrations that this version needs.
        case schemaTooOld = "database_schema_too_old"
        /// The database was closed.
        case closed = "database_closed"
        /// Anything else, such as a statement that is wrong: a mistake of ours.
        case other = "database_error"

        /// The sentence for people.
        public var sentence: String {
            switch self {
            case .constraint: "The database refused the row."
            case .busy: "The database is locked by somebody else."
            case .overloaded: "More is waiting to be written than may wait."
            case .full: "There is no room left for the database."
            case .readOnly: "The database cannot be written."
            case .unavailable: "The database cannot be opened or read."
            case .corrupt: "The database is damaged, or not one of Assay's."
            case .schemaTooNew: "The database was made by a newer version of Assay."
            case .schemaTooOld: "The database needs migrations first: run assay migrate."
            case .closed: "The database is closed."
            case .other: "The database failed."
            }
        }
    }
}

extension LedgerStorageError: CustomStringConvertible {
    public var description: String { "\(kind.rawValue): \(kind.sentence) (\(detail))" }
}
