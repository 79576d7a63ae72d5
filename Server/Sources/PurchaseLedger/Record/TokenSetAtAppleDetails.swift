import PurchaseVerification

/// `token_set_at_apple`: the App Store accepted an account token for a purchase. It changes nothing here; the signed
/// data that follows states the token.
struct TokenSetAtAppleDetails: JournalDetails {
    static var kind: JournalKind { .tokenSetAtApple }
    /// The customer of the token.
    var customer: String
    var environment: String
    var originalTransactionID: String
    var token: String
}
