import PurchaseVerification

/// The Merkle log: the pending entries, the leaf of each entry, the full tiles, and size and root.
enum SchemaVersion1Log {
    static let statements: [LedgerMigration.Statement] = [
        .definition("CREATE TABLE log_pending (entry_key INTEGER PRIMARY KEY)"),
        .definition("CREATE TABLE log_entries (leaf INTEGER PRIMARY KEY, entry_key INTEGER NOT NULL UNIQUE)"),
        .appendOnly(
            AppendOnlyRule(
                table: "log_entries", columns: ["leaf", "entry_key"], keys: ["leaf", "entry_key"], erasable: [])),
        // `tile_key` has the level in its highest byte and the tile's position in the level in the others. `hashes` are
        // 256 hashes of 32 bytes (C2SP `tlog-tiles`); `root` is their root.
        .definition(
            "CREATE TABLE log_tiles (tile_key INTEGER PRIMARY KEY, root BLOB NOT NULL, hashes BLOB NOT NULL)"),
        .appendOnly(
            AppendOnlyRule(
                table: "log_tiles", columns: ["tile_key", "root", "hashes"], keys: ["tile_key"], erasable: [])),
        // `entry_key_id` is the id of the key that authenticates entries; the key itself is never in the database.
        .definition(
            """
            CREATE TABLE log_state (
                log_key INTEGER PRIMARY KEY CHECK (log_key = 1), size INTEGER NOT NULL, root BLOB NOT NULL,
                entry_key_id TEXT)
            """),
        // The root of a tree without leaves is SHA-256 of the empty string.
        .sql(
            """
            INSERT INTO log_state (log_key, size, root)
            VALUES (1, 0, x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
            """),
    ]
}
