import PurchaseVerification

/// The settings of each app over time.
struct SettingsHistoryTable {
    let connection: any LedgerConnection

    /// An app's latest settings, their hash and their entry; the body is empty for an app that was removed from the
    /// settings.
    func latest(
        appKey: Int64
    ) throws(LedgerStorageError) -> (sha256: [UInt8], body: [UInt8], entryKey: Int64)? {
        let rows = try connection.rows(
            "SELECT sha256, body, entry_key FROM settings_history WHERE app_key = ?1 ORDER BY settings_key DESC LIMIT 1",
            [.integer(appKey)], of: ["settings_history"])
        guard var reader = rows.first?.reader else { return nil }
        return (try reader.blob(), try reader.blob(), try reader.integer())
    }

    /// The number of the newest settings of all apps; 0 if there are none.
    func number() throws(LedgerStorageError) -> Int64 {
        let rows = try connection.rows(
            "SELECT max(settings_key) FROM settings_history", [], of: ["settings_history"])
        guard var reader = rows.first?.reader else { return 0 }
        return try reader.optionalInteger() ?? 0
    }

    /// Inserts settings under the next number. The engine would leave gaps, and then the audit could not know the
    /// number.
    func insert(appKey: Int64, sha256: [UInt8], body: [UInt8], entry: Int64) throws(LedgerStorageError) {
        let key = try number() + 1
        try connection.send(
            to: "settings_history",
            "INSERT INTO settings_history (settings_key, app_key, sha256, body, entry_key) VALUES (?1, ?2, ?3, ?4, ?5)",
            [.integer(key), .integer(appKey), .blob(sha256), .blob(body), .integer(entry)])
    }
}

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
}
