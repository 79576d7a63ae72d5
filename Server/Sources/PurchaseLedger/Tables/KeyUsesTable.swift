import PurchaseVerification

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
