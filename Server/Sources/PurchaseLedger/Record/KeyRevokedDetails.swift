import PurchaseVerification

/// `key_revoked`.
struct KeyRevokedDetails: JournalDetails {
    static var kind: JournalKind { .keyRevoked }
    var keyID: String
}
