import PurchaseVerification

/// The journal, its evidence and its log, and the events.
extension LedgerTables {
    /// `entry_id` is unique and ordered by time. The other columns after `leaf` are derived from the leaf and the
    /// details, and the audit derives them again.
    static let journal: [LedgerMigration.Statement] = [
        """
        CREATE TABLE journal (
            entry_key INTEGER PRIMARY KEY,
            entry_id BLOB NOT NULL UNIQUE,
            leaf BLOB NOT NULL,
            salt BLOB,
            details BLOB,
            app_key INTEGER NOT NULL,
            customer_key INTEGER,
            order_key INTEGER,
            transaction_key INTEGER,
            evidence_key INTEGER,
            kind INTEGER NOT NULL,
            code TEXT NOT NULL,
            at INTEGER NOT NULL,
            mac BLOB)
        """,
        // Claims have an index by time, and accepted and rejected claims one each (3 is `JournalKind.claim`), so no
        // list reads entries that it leaves out. A claim is in only one of the two, so they cost as much as one index
        // of all claims.
        """
        CREATE INDEX journal_accepted ON journal (app_key, at, entry_key) WHERE kind = 3 AND code = 'accepted'
        """,
        """
        CREATE INDEX journal_rejected ON journal (app_key, at, entry_key) WHERE kind = 3 AND code <> 'accepted'
        """,
        """
        CREATE INDEX journal_by_code ON journal (app_key, code, at, entry_key) WHERE kind = 3 AND code <> 'accepted'
        """,
        """
        CREATE INDEX journal_by_customer ON journal (customer_key, kind, at, entry_key)
        WHERE customer_key IS NOT NULL
        """,
        """
        CREATE INDEX journal_by_order ON journal (order_key, at, entry_key) WHERE kind = 3 AND order_key IS NOT NULL
        """,
        """
        CREATE INDEX journal_by_transaction ON journal (transaction_key, kind, at, entry_key)
        WHERE transaction_key IS NOT NULL
        """,
        // Refused evidence of restores is listed with refused claims (48 is `JournalKind.refusals`).
        "CREATE INDEX journal_refusals ON journal (app_key, at, entry_key) WHERE kind = 48",
        // Answers that do not confirm a purchase are rare (2 is `JournalKind.appStoreAnswer`).
        """
        CREATE INDEX journal_not_confirmed ON journal (app_key, code, at, entry_key) WHERE kind = 2 AND code <> 'accepted'
        """,
        // Restores of several purchases: their entries refer to no transaction.
        """
        CREATE INDEX journal_restores ON journal (customer_key, entry_key)
        WHERE kind = 3 AND transaction_key IS NULL AND code = 'accepted'
        """,
        // 23 is `JournalKind.notification`.
        """
        CREATE INDEX journal_notifications ON journal (customer_key, entry_key)
        WHERE kind = 23 AND customer_key IS NOT NULL
        """,
        .appendOnly(
            AppendOnlyRule(
                table: "journal",
                columns: [
                    "entry_key", "entry_id", "leaf", "app_key", "customer_key", "order_key", "transaction_key",
                    "evidence_key", "kind", "code", "at", "mac",
                ],
                keys: ["entry_key", "entry_id"], erasable: ["salt", "details"])),
    ]

    /// The claims that are not accepted, by the transactions that their requests name (`RefusedClaimsTable`).
    static let refusedClaims: [LedgerMigration.Statement] = [
        """
        CREATE TABLE refused_claims (
            app_key INTEGER NOT NULL, transaction_id TEXT NOT NULL, at INTEGER NOT NULL, entry_key INTEGER NOT NULL,
            customer_key INTEGER NOT NULL,
            PRIMARY KEY (app_key, transaction_id, at, entry_key)) WITHOUT ROWID
        """,
        "CREATE INDEX refused_claims_by_customer ON refused_claims (customer_key, at)",
    ]

    /// What webhooks and lists tell.
    static let events: [LedgerMigration.Statement] = [
        """
        CREATE TABLE events (
            event_key INTEGER PRIMARY KEY,
            app_key INTEGER NOT NULL,
            entry_key INTEGER NOT NULL,
            type TEXT NOT NULL,
            customer_key INTEGER,
            former_key INTEGER,
            environment INTEGER,
            product_key INTEGER,
            transaction_key INTEGER,
            original_key INTEGER,
            order_key INTEGER,
            figures BLOB NOT NULL)
        """,
        "CREATE INDEX events_by_app ON events (app_key, event_key)",
        // Support staff reads the events of a customer.
        """
        CREATE INDEX events_by_customer ON events (customer_key, event_key) WHERE customer_key IS NOT NULL
        """,
    ]

    /// The bytes that entries refer to.
    static let evidence: [LedgerMigration.Statement] = [
        """
        CREATE TABLE evidence (
            evidence_key INTEGER PRIMARY KEY,
            sha256 BLOB NOT NULL UNIQUE,
            size INTEGER NOT NULL,
            content BLOB)
        """,
        .appendOnly(
            AppendOnlyRule(
                table: "evidence", columns: ["evidence_key", "sha256", "size"], keys: ["evidence_key", "sha256"],
                erasable: [], refillable: ["content"], ignoresDuplicates: true)),
        // Certificates that many pieces of evidence share. Their content names no customer.
        """
        CREATE TABLE evidence_parts (
            part_key INTEGER PRIMARY KEY, sha256 BLOB NOT NULL UNIQUE, content BLOB)
        """,
        .appendOnly(
            AppendOnlyRule(
                table: "evidence_parts", columns: ["part_key", "sha256"], keys: ["part_key", "sha256"],
                erasable: [], refillable: ["content"])),
        // The use of the daily budget; `key_id` is empty for a whole app.
        """
        CREATE TABLE unverified_evidence (
            app_key INTEGER NOT NULL, key_id TEXT NOT NULL, day INTEGER NOT NULL, bytes INTEGER NOT NULL,
            PRIMARY KEY (app_key, key_id, day)) WITHOUT ROWID
        """,
        // Verified evidence with a bundle id that no app has, or without an environment: it is observed when that
        // changes. The key comes first, because SQLite 3.40 checks the columns of a table without row ids in the order
        // of its key, and reports missing values.
        """
        CREATE TABLE held_evidence (
            bundle_id TEXT NOT NULL, evidence_key INTEGER NOT NULL, entry_key INTEGER NOT NULL,
            PRIMARY KEY (bundle_id, evidence_key)) WITHOUT ROWID
        """,
    ]

    /// The Merkle log: the leaf of each entry, the full tiles, and how far it goes.
    static let log: [LedgerMigration.Statement] = [
        "CREATE TABLE log_entries (leaf INTEGER PRIMARY KEY, entry_key INTEGER NOT NULL UNIQUE)",
        .appendOnly(
            AppendOnlyRule(
                table: "log_entries", columns: ["leaf", "entry_key"], keys: ["leaf", "entry_key"], erasable: [])),
        // `tile_key` has the level in its highest byte and the tile's position in the level in the others. `hashes` are
        // 256 hashes of 32 bytes (C2SP `tlog-tiles`); `root` is their root.
        "CREATE TABLE log_tiles (tile_key INTEGER PRIMARY KEY, root BLOB NOT NULL, hashes BLOB NOT NULL)",
        .appendOnly(
            AppendOnlyRule(
                table: "log_tiles", columns: ["tile_key", "root", "hashes"], keys: ["tile_key"], erasable: [])),
        // Every entry up to `sealed_up_to` has a leaf or is one of the `refused`. `entry_key_id` is the id of the key
        // that authenticates entries; the key itself is never in the database.
        """
        CREATE TABLE log_state (
            log_key INTEGER PRIMARY KEY CHECK (log_key = 1), size INTEGER NOT NULL, root BLOB NOT NULL,
            sealed_up_to INTEGER NOT NULL, refused INTEGER NOT NULL, entry_key_id TEXT)
        """,
        // The root of a tree without leaves is SHA-256 of the empty string.
        .sql(
            """
            INSERT INTO log_state (log_key, size, root, sealed_up_to, refused)
            VALUES (1, 0, x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 0, 0)
            """),
    ]
}
