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

/// A key for the HTTP API, with the SHA-256 of its text.
struct APIKeyRow: TableRow {
    static let table = Table(
        "api_keys", key: nil,
        columns: ["key_id", "app_key", "name", "scopes", "secret_sha256", "created_at", "revoked_at"])

    var id: String
    var appKey: Int64
    var name: String
    var scopes: Set<APIKeyScope>
    var secretSHA256: [UInt8]
    var createdAt: Timestamp
    var revokedAt: Timestamp?

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        id = try reader.text()
        appKey = try reader.integer()
        name = try reader.text()
        scopes = Set(try reader.text().split(separator: ",").compactMap { APIKeyScope(rawValue: String($0)) })
        secretSHA256 = try reader.blob()
        createdAt = try reader.time()
        revokedAt = try reader.optionalTime()
    }

    init(
        id: String, appKey: Int64, name: String, scopes: Set<APIKeyScope>, secretSHA256: [UInt8], createdAt: Timestamp
    ) {
        self.id = id
        self.appKey = appKey
        self.name = name
        self.scopes = scopes
        self.secretSHA256 = secretSHA256
        self.createdAt = createdAt
    }

    var values: [LedgerValue] {
        [
            .text(id), .integer(appKey), .text(name), .text(scopes.map(\.rawValue).sorted().joined(separator: ",")),
            .blob(secretSHA256), .time(createdAt), .time(revokedAt),
        ]
    }
}

/// When each API key was last used.
struct KeyUsesTable {
    private static let insertion = LedgerInsertion(
        "key_uses", ["key_id", "used_at"], onConflict: ["key_id"],
        "DO UPDATE SET used_at = excluded.used_at WHERE excluded.used_at > key_uses.used_at")

    let connection: any LedgerConnection

    /// Notes a use; an earlier one changes nothing.
    func note(_ id: String, at time: Timestamp) throws(LedgerStorageError) {
        try connection.insert(Self.insertion, [.text(id), .time(time)])
    }

    /// The last use of every key that was used.
    func all() throws(LedgerStorageError) -> [String: Timestamp] {
        var uses: [String: Timestamp] = [:]
        for row in try connection.rows("SELECT key_id, used_at FROM key_uses", [], of: ["key_uses"]) {
            var reader = row.reader
            let id = try reader.text()
            uses[id] = try reader.time()
        }
        return uses
    }
}

/// Requests that were executed under an idempotency key, and the journal entry of each.
struct IdempotencyTable {
    private static let insertion = LedgerInsertion("idempotency", ["scope", "request_sha256", "entry_key", "at"])

    let connection: any LedgerConnection

    func entry(
        scope: [UInt8]
    ) throws(LedgerStorageError) -> (requestSHA256: [UInt8], entryKey: Int64)? {
        let rows = try connection.rows(
            "SELECT request_sha256, entry_key FROM idempotency WHERE scope = ?1", [.blob(scope)], of: ["idempotency"])
        guard var reader = rows.first?.reader else { return nil }
        return (try reader.blob(), try reader.integer())
    }

    func insert(
        scope: [UInt8], requestSHA256: [UInt8], entryKey: Int64, at time: Timestamp
    ) throws(LedgerStorageError) {
        try connection.insert(
            Self.insertion,
            [.blob(scope), .blob(requestSHA256), .integer(entryKey), .time(time)])
    }

    /// Deletes the rows of a customer's entries: a key is the hash of a request that contains the name.
    func deleteAll(of customer: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "idempotency",
            "DELETE FROM idempotency WHERE entry_key IN (SELECT entry_key FROM journal WHERE customer_key = ?1)",
            [.integer(customer)])
    }

    /// Deletes the rows that were written before a time.
    ///
    /// - Returns: their number.
    func delete(before time: Timestamp) throws(LedgerStorageError) -> Int {
        try connection.execute("DELETE FROM idempotency WHERE at < ?1", [.time(time)])
    }
}
