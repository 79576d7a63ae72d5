import PurchaseVerification

/// `refusals`: several refused pieces of evidence of one request, or the refusals of one API key beyond the daily
/// budget.
struct RefusalsDetails: JournalDetails {
    static var kind: JournalKind { .refusals }
    var keyID: String?
    var sourceAddress: String?
    /// The customer of the request; `nil` for counted refusals.
    var customer: String?
    /// The number of pieces, or of counted refusals.
    var count: Int64
    /// The number with each code.
    var codes: [String: Int64]
    /// The SHA-256, in hexadecimal, of each piece whose bytes were stored.
    var kept: [String]
    /// The SHA-256 of each other piece; of counted refusals, only of the last evidence.
    var hashes: [String]
    /// When the first of the counted refusals was refused, in milliseconds since 1970; `nil` for the pieces of one
    /// request.
    var since: Int64?
}
