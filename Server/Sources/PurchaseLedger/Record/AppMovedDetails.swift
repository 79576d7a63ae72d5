import PurchaseVerification

/// `app_moved`: an app moves to another ledger, or moved whole; without a place, it is here again. As the first entry
/// of a ledger it says where its app came from.
struct AppMovedDetails: JournalDetails {
    static var kind: JournalKind { .appMoved }
    /// Why the webhooks of the app are disabled.
    static let reason = "the app moved to another ledger"

    /// The origin of the new log.
    var origin: String?
    /// Where to ask for the app.
    var place: String?
    /// The id of the entry that ended the app here, and of the copy that is its ledger; `nil` until that is finished.
    var act: String?
    var copy: String?
    var from: From?

    /// The log that the entries of an app were in before: a checkpoint that covers them and the act that moved them.
    struct From: Codable, Sendable {
        var app: String
        var origin: String
        var size: Int64
        /// In hexadecimal.
        var root: String
        /// The id of the act.
        var entry: String
        /// A number that no reader of the app can have as a cursor. Later events have greater ones.
        var event: Int64 = 0
        /// The hashes of its evidence that erasures of other apps deleted, in hexadecimal.
        var erased: [String] = []

        init(_ app: String, _ checkpoint: Checkpoint, entry: String) {
            (self.app, origin, size) = (app, checkpoint.origin, checkpoint.size)
            (root, self.entry) = (checkpoint.root.bytes.hexadecimal, entry)
        }

        /// Where the app of a ledger came from; `nil` if its first entry does not say that.
        static func of(_ connection: any LedgerConnection) throws(LedgerStorageError) -> From? {
            let row = try JournalTable(connection: connection).row(key: 0)
            guard let row, let leaf = JournalLeaf(bytes: row.leaf), leaf.kind == .appMoved, let salt = row.salt,
                let details = row.details, Journal.digest(salt: salt, details: details) == leaf.details
            else { return nil }
            return try AppMovedDetails(encoded: details).from
        }
    }
}
