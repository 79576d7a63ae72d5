import PurchaseVerification

struct OwnershipActsTable {
    // A customer who was just created has no earlier acts, so changes of customers do not matter.
    static let ofOriginal = ReadShape(
        """
        SELECT ownership_acts.original_key, entry_key, transaction_key, ownership_acts.customer_key, former_key,
        kind, merged_into
        FROM ownership_acts JOIN customers ON customers.customer_key = ownership_acts.customer_key
        WHERE original_key = ?1 ORDER BY entry_key, transaction_key
        """, of: ReadScope(OwnershipActRow.table.name, by: "original_key"), [.column(0, of: OriginalsTable.byNumber)])

    let connection: any LedgerConnection

    /// The acts of an original, in the order of the journal, each with whether its customer was merged into another
    /// later.
    func rows(
        originalKey: Int64
    ) throws(LedgerStorageError) -> [(row: OwnershipActRow, isMerged: Bool)] {
        var acts: [(row: OwnershipActRow, isMerged: Bool)] = []
        for row in try connection.rows(Self.ofOriginal, [.integer(originalKey)]) {
            var reader = row.reader
            acts.append((try OwnershipActRow(&reader), try reader.optionalInteger() != nil))
        }
        return acts
    }

    /// Moves the acts on a transaction to another original.
    func move(_ transactionKey: Int64, to originalKey: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "ownership_acts",
            """
            UPDATE ownership_acts SET original_key = ?2 WHERE transaction_key = ?1
            AND original_key <> ?2
            """, [.integer(transactionKey), .integer(originalKey)])
    }

    func insert(_ row: OwnershipActRow) throws(LedgerStorageError) {
        try connection.insert(OwnershipActRow.table.insertion, row.values)
    }
}

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
    /// The owner before an operator's transfer, or the guest of a takeover.
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

/// The kinds of ownership acts. A claim is decided under the transfer policy at its time.
enum OwnershipActKind: String, Sendable {
    case claim
    case movingClaim = "moving_claim"
    case takeOver = "take_over"
    case move
}
