import PurchaseVerification

/// `next_release`: nothing but a note. No release writes it; tests of upgrades do.
struct NextReleaseDetails: JournalDetails {
    static var kind: JournalKind { .nextRelease }
    var note: String
}
