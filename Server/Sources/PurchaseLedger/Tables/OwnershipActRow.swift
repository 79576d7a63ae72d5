import PurchaseVerification

/// A claim that binds, or a transfer by the operator. It determines the owner of an original without an account token.
struct OwnershipActRow: TableRow {
    static let table = Table(
        "ownership_acts", key: nil,
        columns: ["original_key", "entry_key", "transaction_key", "customer_key", "former_key", "kind"])

    var originalKey: Int64
    var entryKey: Int64
    /// The transaction that was claimed or transferred.
    var transactionKey: Int64
    var customerKey: Int64
    /// The owner before an operator's transfer.
    var formerKey: Int64?
    var kind: OwnershipActKind

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        originalKey = try reader.integer()
        entryKey = try reader.integer()
        transactionKey = try reader.integer()
        customerKey = try reader.integer()
        formerKey = try reader.optionalInteger()
        kind = try reader.named(OwnershipActKind.self)
    }

    init(
        originalKey: Int64, entryKey: Int64, transactionKey: Int64, customerKey: Int64, formerKey: Int64?,
        kind: OwnershipActKind
    ) {
        self.originalKey = originalKey
        self.entryKey = entryKey
        self.transactionKey = transactionKey
        self.customerKey = customerKey
        self.formerKey = formerKey
        self.kind = kind
    }

    var values: [LedgerValue] {
        [
            .integer(originalKey), .integer(entryKey), .integer(transactionKey), .integer(customerKey),
            .integer(formerKey), .text(kind.rawValue),
        ]
    }
}
