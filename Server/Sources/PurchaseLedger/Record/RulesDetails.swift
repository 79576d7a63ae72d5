import PurchaseVerification

/// `rules`.
struct RulesDetails: JournalDetails {
    static var kind: JournalKind { .rules }
    var version: Int64
    /// Why the tables were rewritten; `nil` if they were not.
    var repair: String?
    /// The number of events `corrected` that the repair wrote.
    var corrections: Int64?
    /// The hash of their subjects (`Corrections`).
    var correctionsSHA256: String?
}
