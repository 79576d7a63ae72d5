import PurchaseVerification

/// The operators of the console.
struct OperatorsTable {
    private static let writing = LedgerInsertion(
        "operators",
        ["name", "role", "created_at", "password", "link_sha256", "link_ends_at", "failures", "locked_until"],
        onConflict: ["name"],
        """
        DO UPDATE SET role = excluded.role, password = excluded.password, link_sha256 = excluded.link_sha256,
        link_ends_at = excluded.link_ends_at, failures = excluded.failures, locked_until = excluded.locked_until
        """)

    let connection: any LedgerConnection

    func row(_ name: String) throws(LedgerStorageError) -> OperatorRow? {
        try OperatorRow.first("WHERE name = ?1", [.text(name)], connection)
    }

    func row(link sha256: [UInt8]) throws(LedgerStorageError) -> OperatorRow? {
        try OperatorRow.first("WHERE link_sha256 = ?1", [.blob(sha256)], connection)
    }

    /// All operators, by name.
    func all() throws(LedgerStorageError) -> [OperatorRow] {
        try OperatorRow.all("ORDER BY name", [], connection)
    }

    /// Inserts an operator, or replaces the one with the same name.
    func write(_ row: OperatorRow) throws(LedgerStorageError) {
        try connection.insert(Self.writing, row.values)
    }

    /// - Returns: whether there was one.
    func delete(_ name: String) throws(LedgerStorageError) -> Bool {
        try connection.execute("DELETE FROM operators WHERE name = ?1", [.text(name)]) == 1
    }
}
