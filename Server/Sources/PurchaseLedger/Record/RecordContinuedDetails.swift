import PurchaseVerification

/// `record_continued`: the log that ended, and the reason. It is the first leaf that the new origin signs.
struct RecordContinuedDetails: JournalDetails {
    static var kind: JournalKind { .recordContinued }
    /// The origin that ended.
    var origin: String
    /// The last signed size.
    var size: Int64
    /// The root at that size, in hexadecimal.
    var root: String
    /// The size of the log after the restore.
    var found: Int64
    var newOrigin: String
    var reason: String
}
