import PurchaseVerification

/// `testers_changed`.
struct TestersChangedDetails: JournalDetails {
    static var kind: JournalKind { .testersChanged }
    var customer: String
    var isTester: Bool
    var reason: String?
}
