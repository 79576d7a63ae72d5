extension SQLiteDialect {
    func has(table: String, _ connection: any LedgerConnection) throws(LedgerStorageError) -> Bool {
        try !connection.rows(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?1", [.text(table)]
        ).isEmpty
    }

    /// The file is on this machine, and each connection of Assay waits until the disk has what was written.
    func condition(
        _ connection: any LedgerConnection, schema: Int64?
    ) throws(LedgerStorageError) -> DatabaseCondition {
        let rows = try connection.rows(
            "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()", [])
        guard var reader = rows.first?.reader else { throw LedgerStorageError(.other, "the size is not known") }
        return DatabaseCondition(
            schema: schema, bytes: try reader.integer(), time: nil, unsafeSettings: [], isReadOnly: false)
    }
}
