import PurchaseVerification

/// `consumed`.
struct ConsumedDetails: JournalDetails {
    static var kind: JournalKind { .consumed }
    var customer: String
    var consumptionID: String
    var productID: String
    var environment: String
    var quantity: Int64
    var takes: [LotTake]
}
