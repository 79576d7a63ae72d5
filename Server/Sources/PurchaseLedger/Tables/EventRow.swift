import PurchaseVerification

/// The changes of the ledger in order, each derived from a journal entry. A row refers to other rows by keys, which are
/// small and never change their meaning; ids and names are read from those rows. So no event repeats a customer's name.
struct EventRow: Sendable {
    static let table = Table(
        "events", key: "event_key",
        columns: [
            "app_key", "entry_key", "type", "customer_key", "former_key", "environment", "product_key",
            "transaction_key", "original_key", "order_key", "figures",
        ])

    let type: EventType
    let appKey: Int64
    let entryKey: Int64
    /// The customer whose purchase or order changed.
    var customerKey: Int64?
    /// The owner before a transfer, the customer before a merge, or the owner of a purchase that the customer claimed.
    var formerKey: Int64?
    /// `nil` if it is that of the transaction.
    var environment: Int64?
    var productKey: Int64?
    var transactionKey: Int64?
    var originalKey: Int64?
    var orderKey: Int64?
    var figures = EventFigures()

    init(_ type: EventType, appKey: Int64, entryKey: Int64) {
        self.type = type
        self.appKey = appKey
        self.entryKey = entryKey
    }

    var values: [LedgerValue] {
        [
            .integer(appKey), .integer(entryKey), .text(type.rawValue), .integer(customerKey), .integer(formerKey),
            .integer(environment), .integer(productKey), .integer(transactionKey), .integer(originalKey),
            .integer(orderKey), .blob(figures.encoded),
        ]
    }
}
