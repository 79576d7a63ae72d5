import PurchaseVerification

/// A table: the only place with the names of its columns. Statements are built from the list once.
struct Table: Sendable {
    let name: String
    /// The column that the database numbers, if there is one.
    let key: String?
    /// The key, if there is one, and all other columns.
    let columns: String
    /// Inserts a row without its key.
    let insertion: LedgerInsertion

    init(_ name: String, key: String?, columns: [String]) {
        self.name = name
        self.key = key
        self.columns = ((key.map { [$0] } ?? []) + columns).joined(separator: ", ")
        insertion = LedgerInsertion(name, columns)
    }

    /// The table and its key, in the form that `LedgerWritePlan` uses.
    var numbering: String { key.map { "\(name).\($0)" } ?? name }

    /// A query of whole rows.
    func select(_ condition: String) -> String { "SELECT \(columns) FROM \(name) \(condition)" }

    /// Inserts a row.
    ///
    /// - Returns: its key.
    func insert(_ values: [LedgerValue], _ connection: any LedgerConnection) throws(LedgerStorageError) -> Int64 {
        guard let key else { throw LedgerStorageError(.other, "\(name) does not number its rows") }
        guard let number = try connection.insert(insertion, key: key, values) else {
            throw LedgerStorageError(.constraint, "no row was inserted into \(name)")
        }
        return number
    }
}
