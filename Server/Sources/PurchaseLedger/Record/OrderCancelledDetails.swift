import PurchaseVerification

/// `order_cancelled`.
struct OrderCancelledDetails: JournalDetails {
    static var kind: JournalKind { .orderCancelled }
    var keyID: String?
}
