import PurchaseVerification

/// The apps of the settings, each with a permanent number.
struct AppsTable {
    let connection: any LedgerConnection

    /// All apps, including those that are no longer in the settings.
    func all() throws(LedgerStorageError) -> [(key: Int64, name: String)] {
        var apps: [(key: Int64, name: String)] = []
        for row in try connection.rows("SELECT app_key, name FROM apps ORDER BY app_key", [], of: ["apps"]) {
            var reader = row.reader
            apps.append((try reader.integer(), try reader.text()))
        }
        return apps
    }

    func insert(_ name: String) throws(LedgerStorageError) -> Int64 {
        let rows = try connection.changedRows("INSERT INTO apps (name) VALUES (?1) RETURNING app_key", [.text(name)])
        guard var reader = rows.first?.reader else {
            throw LedgerStorageError(.constraint, "no row was inserted into apps")
        }
        return try reader.integer()
    }
}
