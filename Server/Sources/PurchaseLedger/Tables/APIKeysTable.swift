import PurchaseVerification

struct APIKeysTable {
    let connection: any LedgerConnection

    func row(_ id: String) throws(LedgerStorageError) -> APIKeyRow? {
        try APIKeyRow.first("WHERE key_id = ?1", [.text(id)], connection)
    }

    /// All keys, oldest first.
    func all() throws(LedgerStorageError) -> [APIKeyRow] {
        try APIKeyRow.all("ORDER BY created_at, key_id", [], connection)
    }

    func insert(_ row: APIKeyRow) throws(LedgerStorageError) {
        try connection.insert(APIKeyRow.table.insertion, row.values)
    }

    /// - Returns: whether the key was valid before.
    func revoke(_ id: String, at time: Timestamp) throws(LedgerStorageError) -> Bool {
        try connection.execute(
            "UPDATE api_keys SET revoked_at = ?2 WHERE key_id = ?1 AND revoked_at IS NULL", [.text(id), .time(time)])
            == 1
    }
}
