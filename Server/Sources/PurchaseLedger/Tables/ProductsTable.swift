import PurchaseVerification

/// The products that any evidence, order or grant ever named.
struct ProductsTable {
    let connection: any LedgerConnection

    /// A product by app and id; the first column is the key.
    static let byID = ReadShape(
        "SELECT product_key FROM products WHERE app_key = ?1 AND product_id = ?2",
        of: ReadScope("products", by: "app_key", "product_id"),
        [.value, .value], numbering: "products.product_key")
    /// A product's id, looked up by itself: the form in which rows that refer to the product are read.
    static let idOfID = ReadShape(
        "SELECT product_id FROM products WHERE product_key = ?1", of: ReadScope("products", by: "product_key"),
        [.column(0, of: byID)])

    func key(_ productID: String, appKey: Int64) throws(LedgerStorageError) -> Int64? {
        try connection.integers(
            Self.byID, [.integer(appKey), .text(productID)]
        ).first
    }

    func keyToWrite(_ productID: String, appKey: Int64, at time: Timestamp) throws(LedgerStorageError) -> Int64 {
        if let key = try key(productID, appKey: appKey) { return key }
        return try ProductRow.table.insert([.integer(appKey), .text(productID), .time(time)], connection)
    }

    /// The id of a product; empty for the key 0, which rows of an erased customer have.
    func id(_ key: Int64) throws(LedgerStorageError) -> String {
        guard key != 0 else { return "" }
        let rows = try connection.rows(Self.idOfID, [.integer(key)])
        guard var reader = rows.first?.reader else {
            throw LedgerStorageError(.corrupt, "there is no product \(key)")
        }
        return try reader.text()
    }

    /// The id of a product of an app; `nil` if the app has no product with the key.
    func id(_ key: Int64, appKey: Int64) throws(LedgerStorageError) -> String? {
        let rows = try connection.rows(
            "SELECT product_id FROM products WHERE product_key = ?1 AND app_key = ?2",
            [.integer(key), .integer(appKey)], of: ["products"])
        guard var reader = rows.first?.reader else { return nil }
        return try reader.text()
    }

    /// The products of an app after an id, ordered by id.
    func page(appKey: Int64, after id: String, limit: Int64) throws(LedgerStorageError) -> [ProductRow] {
        try ProductRow.all(
            "WHERE app_key = ?1 AND product_id > ?2 ORDER BY product_id LIMIT ?3",
            [.integer(appKey), .text(id), .integer(limit)], connection)
    }
}

/// A product of an app.
struct ProductRow: TableRow {
    static let table = Table(
        "products", key: "product_key", columns: ["app_key", "product_id", "first_known_at"])

    let key, appKey: Int64
    let id: String
    let firstKnownAt: Timestamp

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        (key, appKey, id) = (try reader.integer(), try reader.integer(), try reader.text())
        firstKnownAt = try reader.time()
    }
}
