import PurchaseVerification

extension PostgreSQLDialect {
    func has(table: String, _ connection: any LedgerConnection) throws(LedgerStorageError) -> Bool {
        let rows = try connection.rows("SELECT (to_regclass(?1) IS NOT NULL)::int::bigint", [.text(table)])
        guard var reader = rows.first?.reader else { return false }
        return try reader.flag()
    }

    /// With one of these settings off, a commit is answered before it is safe from a crash, or pages can be torn.
    func condition(
        _ connection: any LedgerConnection, schema: Int64?
    ) throws(LedgerStorageError) -> DatabaseCondition {
        let rows = try connection.rows(
            """
            SELECT pg_database_size(current_database()), (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
            current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),
            (pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on')::int::bigint
            """, [])
        guard var reader = rows.first?.reader else { throw LedgerStorageError(.other, "the settings are not known") }
        let (bytes, time) = (try reader.integer(), try reader.time())
        var unsafe: [String] = []
        for name in ["fsync", "full_page_writes", "synchronous_commit"] where try reader.text().isSame(as: "off") {
            unsafe.append("\(name) = off")
        }
        return DatabaseCondition(
            schema: schema, bytes: bytes, time: time, unsafeSettings: unsafe, isReadOnly: try reader.flag())
    }
}
