import PurchaseVerification

/// A merge whose rows still move.
struct CustomerMoveRow: TableRow, Equatable {
    static let table = Table("customer_moves", key: nil, columns: ["target_key", "customer_key", "entry_key"])

    /// The customer who keeps the purchases of both.
    var targetKey: Int64
    /// The merged customer, whose rows move.
    var customerKey: Int64
    /// The journal entry of the merge.
    var entryKey: Int64

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        targetKey = try reader.integer()
        customerKey = try reader.integer()
        entryKey = try reader.integer()
    }

    init(targetKey: Int64, customerKey: Int64, entryKey: Int64) {
        self.targetKey = targetKey
        self.customerKey = customerKey
        self.entryKey = entryKey
    }

    var values: [LedgerValue] { [.integer(targetKey), .integer(customerKey), .integer(entryKey)] }
}
