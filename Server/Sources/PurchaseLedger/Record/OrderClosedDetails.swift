import PurchaseVerification

/// `order_closed`.
struct OrderClosedDetails: JournalDetails {
    static var kind: JournalKind { .orderClosed }
    var keyID: String?
    var reason: String
}
