/// `consumption_consent`.
struct ConsumptionConsentDetails: JournalDetails {
    static var kind: JournalKind { .consumptionConsent }
    var customer: String
    var isGiven: Bool
}
