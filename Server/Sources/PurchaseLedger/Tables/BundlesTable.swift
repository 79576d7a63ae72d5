import PurchaseVerification

/// The app of each bundle id. A bundle id never changes its app.
struct BundlesTable {
    let connection: any LedgerConnection

    func all() throws(LedgerStorageError) -> [(bundleID: String, appKey: Int64)] {
        var bundles: [(bundleID: String, appKey: Int64)] = []
        for row in try connection.rows("SELECT bundle_id, app_key FROM bundles ORDER BY bundle_id", [], of: ["bundles"])
        {
            var reader = row.reader
            bundles.append((try reader.text(), try reader.integer()))
        }
        return bundles
    }

    func insert(_ bundleID: String, appKey: Int64, entry: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "bundles",
            "INSERT INTO bundles (bundle_id, app_key, entry_key) VALUES (?1, ?2, ?3)",
            [.text(bundleID), .integer(appKey), .integer(entry)])
    }
}
