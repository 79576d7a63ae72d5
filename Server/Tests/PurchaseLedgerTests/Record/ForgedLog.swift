import PurchaseLedger

/// The Merkle log as an attacker with write access to the database recomputes it.
enum ForgedLog {
    /// Numbers the leaves again, and writes tiles, size and root of the current journal.
    @discardableResult
    static func computeAgain(_ connection: any LedgerConnection) throws -> Int {
        var triggers: [String] = []
        for row in try connection.rows(
            """
            SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name IN ('log_entries', 'log_tiles')
            """, [])
        {
            guard case .text(let name) = row.values[0], case .text(let sql) = row.values[1] else { continue }
            triggers.append(sql)
            try connection.execute("DROP TRIGGER \(name)", [])
        }
        let rows = try connection.rows(
            """
            SELECT log_entries.entry_key, journal.leaf FROM log_entries
            JOIN journal ON journal.entry_key = log_entries.entry_key ORDER BY log_entries.leaf
            """, [])
        try connection.execute("DELETE FROM log_entries", [])
        try connection.execute("DELETE FROM log_tiles", [])
        var tree = MerkleAppender()
        for row in rows {
            guard case .blob(let leaf) = row.values[1] else { continue }
            try connection.execute(
                "INSERT INTO log_entries (leaf, entry_key) VALUES (?1, ?2)", [.integer(tree.size), row.values[0]])
            for tile in tree.append(.leaf(leaf)) {
                try connection.execute(
                    "INSERT INTO log_tiles (tile_key, root, hashes) VALUES (?1, ?2, ?3)",
                    [
                        .integer(Int64(tile.level) << 56 | tile.number), .blob(tile.root.bytes),
                        .blob(tile.hashes.flatMap(\.bytes)),
                    ])
            }
        }
        try connection.execute(
            """
            UPDATE log_state SET size = ?1, root = ?2,
            sealed_up_to = (SELECT coalesce(max(entry_key), 0) FROM log_entries)
            """, [.integer(tree.size), .blob(tree.root().bytes)])
        for sql in triggers { try connection.execute(sql, []) }
        return rows.count
    }
}
