import Foundation

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
            schema: schema, bytes: try reader.integer(), writeAheadBytes: try writeAheadBytes(connection), time: nil,
            unsafeSettings: [], isReadOnly: false)
    }

    /// The log is in a file beside the database; it is absent while nothing was written.
    private func writeAheadBytes(_ connection: any LedgerConnection) throws(LedgerStorageError) -> Int64 {
        let rows = try connection.rows("SELECT file FROM pragma_database_list() WHERE name = 'main'", [])
        guard var reader = rows.first?.reader else { return 0 }
        let path = try reader.text() + "-wal"
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }
}
