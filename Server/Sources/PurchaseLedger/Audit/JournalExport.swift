/// A page of the journal, by the numbers of the entries.
public struct JournalExport: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// The number of the entry after which the page begins.
    public var after: Int64
    public var limit: Int

    /// A page of the journal.
    public init(after: Int64 = 0, limit: Int = 256) {
        self.after = after
        self.limit = limit
    }

    public func answer(_ reader: LedgerTransaction) throws -> [ExportedEntry] {
        let rows = try JournalTable(connection: reader.connection).rows(after: after, limit: Int64(max(1, limit)))
        let log = LogEntriesTable(connection: reader.connection)
        var entries: [ExportedEntry] = []
        for row in rows {
            guard let leaf = JournalLeaf(bytes: row.leaf) else {
                throw LedgerStorageError(.corrupt, "the leaf of entry \(row.key) cannot be read; run the audit")
            }
            entries.append(
                ExportedEntry(
                    key: row.key, leafNumber: try log.leaf(of: row.key), leaf: leaf,
                    leafHash: JournalLeaf.hash(row.leaf), details: row.details))
        }
        return entries
    }
}

/// A journal entry for an export: its leaf, and the details whose hash is in the leaf.
public struct ExportedEntry: Sendable, Equatable {
    /// The number of the entry: the cursor for the next page.
    public var key: Int64
    /// The place in the Merkle log, which is the order of the record; `nil` while it is pending.
    public var leafNumber: Int64?
    public var leaf: JournalLeaf
    /// The hash of the leaf in the Merkle log.
    public var leafHash: [UInt8]
    /// The details as JSON; `nil` after an erasure.
    public var details: [UInt8]?
}
