import PurchaseVerification

/// A customer's latest answer to the question whether their use of purchases may be told to Apple.
struct ConsumptionConsentRow: TableRow {
    static let table = Table(
        "consumption_consents", key: nil, columns: ["customer_key", "is_given", "stated_at", "entry_key"])

    var customerKey: Int64
    var isGiven: Bool
    var statedAt: Timestamp
    var entryKey: Int64

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        customerKey = try reader.integer()
        isGiven = try reader.flag()
        statedAt = try reader.time()
        entryKey = try reader.integer()
    }

    init(customerKey: Int64, isGiven: Bool, statedAt: Timestamp, entryKey: Int64) {
        self.customerKey = customerKey
        self.isGiven = isGiven
        self.statedAt = statedAt
        self.entryKey = entryKey
    }

    var values: [LedgerValue] { [.integer(customerKey), .flag(isGiven), .time(statedAt), .integer(entryKey)] }
}
