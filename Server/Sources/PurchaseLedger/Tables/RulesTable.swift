import PurchaseVerification

/// The versions of the rules that facts, owners and entitlements were computed with.
struct RulesTable {
    let connection: any LedgerConnection

    /// The newest version; `nil` in a new database.
    func latest() throws(LedgerStorageError) -> Int64? {
        guard var reader = try connection.rows("SELECT max(version) FROM rules", [], of: ["rules"]).first?.reader else {
            return nil
        }
        return try reader.optionalInteger()
    }

    func insertIfNew(_ version: Int64, entry: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "rules",
            "INSERT INTO rules (version, entry_key) VALUES (?1, ?2) ON CONFLICT (version) DO NOTHING",
            [.integer(version), .integer(entry)])
    }

    func insert(_ version: Int64, entry: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "rules",
            "INSERT INTO rules (version, entry_key) VALUES (?1, ?2)", [.integer(version), .integer(entry)])
    }
}
