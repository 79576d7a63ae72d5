import PurchaseVerification

/// `key_created`.
struct KeyCreatedDetails: JournalDetails {
    static var kind: JournalKind { .keyCreated }
    var keyID: String
    var name: String
    var scopes: [String]
    var secretSHA256: String
}
