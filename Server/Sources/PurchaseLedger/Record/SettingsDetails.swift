import PurchaseVerification

/// `settings`: an app's settings as canonical JSON.
struct SettingsDetails: JournalDetails {
    static var kind: JournalKind { .settings }
    var settings: String
}
