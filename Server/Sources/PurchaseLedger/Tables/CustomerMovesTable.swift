import PurchaseVerification

/// The merge in progress, if there is one. Its rows move in pieces, each a transaction of its own.
struct CustomerMovesTable {
    static let current = ReadShape(
        CustomerMoveRow.table.select("ORDER BY target_key, customer_key LIMIT 1"), of: [CustomerMoveRow.table.name], [])

    let connection: any LedgerConnection

    func row() throws(LedgerStorageError) -> CustomerMoveRow? {
        try CustomerMoveRow.first(Self.current, [], connection)
    }

    func insert(_ row: CustomerMoveRow) throws(LedgerStorageError) {
        try connection.insert(CustomerMoveRow.table.insertion, row.values)
    }

    func delete(_ row: CustomerMoveRow) throws(LedgerStorageError) {
        try connection.send(
            to: "customer_moves",
            "DELETE FROM customer_moves WHERE target_key = ?1 AND customer_key = ?2",
            [.integer(row.targetKey), .integer(row.customerKey)])
    }
}
