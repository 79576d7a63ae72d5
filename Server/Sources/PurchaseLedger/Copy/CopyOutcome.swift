/// The result of a copy.
public struct CopyOutcome: Sendable, Equatable {
    /// The rows of all tables.
    public var rows: Int64
    /// The leaves of the Merkle log.
    public var leaves: Int64
    /// Its root, in hexadecimal.
    public var root: String
    /// The id of the key of entries, which the target's servers need.
    public var entryKeyID: String
}

/// The progress of a copy.
public struct CopyProgress: Sendable, Equatable {
    /// The steps that take time.
    public enum Step: String, Sendable {
        /// Rows are written to the target.
        case copying
        /// Each row of the target is read and compared with the source's.
        case comparing
    }

    /// The current step.
    public var step: Step
    public var table: String
    /// The rows that this step has processed, in all tables.
    public var done: Int64
    /// The number of those rows that an earlier run copied.
    public var doneBefore: Int64
    /// The rows of all tables.
    public var total: Int64
}

/// The reason why a ledger was not copied. The source is unchanged, except for the note that it is being copied.
public struct CopyError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The code, which is stable.
    public let code: Code
    /// The finding and the action to take, as a sentence.
    public let detail: String

    init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    /// The codes.
    public enum Code: String, Sendable, CaseIterable {
        /// The target has rows or tables, and is not an unfinished copy of this source.
        case targetNotEmpty = "copy_target_not_empty"
        /// Another process has the source open, or still writes to it.
        case sourceInUse = "copy_source_in_use"
        /// The source has entries that cannot be sealed.
        case pendingRefused = "copy_pending_refused"
        /// The signing key of this server signed something other than the source's log.
        case signerDiffers = "copy_signer_differs"
        /// A table of the target differs from the source.
        case tablesDiffer = "copy_tables_differ"
        /// The Merkle log computed from the target differs from the source's.
        case logDiffers = "copy_log_differs"
        /// An app is not in the settings, or its purchases are being counted.
        case appNotReady = "copy_app_not_ready"
        /// The app moved to another place before.
        case appMoved = "copy_app_moved"
        /// The entries of the app alone do not give what they recorded.
        case appDiffers = "copy_app_differs"
        /// The database has no note of a copy.
        case notCopied = "copy_not_begun"
    }

    public var description: String { "\(code.rawValue): \(detail)" }
}

extension CopyError {
    /// The error of a SQLite file that another process has open.
    public static func sourceInUse(_ file: String) -> CopyError {
        CopyError(.sourceInUse, "another process has \(file) open; stop the server and try again")
    }

    static func overtaken(_ app: String) -> CopyError {
        CopyError(
            .appDiffers,
            "a customer of \(app) was erased, or a key ended, meanwhile; empty the target and run the command again")
    }

    static func unknownApp(_ app: String) -> CopyError {
        CopyError(.appNotReady, "the settings that the last start recorded have no app \(app)")
    }
}
