import PurchaseVerification

/// `order_fulfilled`: for a consumable, with the units that fulfilment took from the lot.
struct OrderFulfilledDetails: JournalDetails {
    static var kind: JournalKind { .orderFulfilled }
    var keyID: String?
    var takes: [LotTake]
    /// The delivered units; `nil` for the whole order, as recorded before it could be delivered in parts.
    var units: Int64?
    /// The units that remained afterwards; `nil` for 0.
    var remaining: Int64?
}
