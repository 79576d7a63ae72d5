import PurchaseVerification

/// The journal, its evidence, and events.
enum SchemaVersion1Journal {
    static let statements: [LedgerMigration.Statement] = journal + evidence

    /// `entry_id` is unique and ordered by time. The other columns after `leaf` are derived from the leaf and the
    /// details, and the audit derives them again.
    private static let journal: [LedgerMigration.Statement] = [
        .definition(
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
            """),
        // Claims have an index by time, and accepted and rejected claims one each (3 is `JournalKind.claim`), so no
        // list reads entries that it leaves out. A claim is in only one of the two, so they cost as much as one index
        // of all claims.
        .definition(
            """
            CREATE INDEX journal_accepted ON journal (app_key, at, entry_key) WHERE kind = 3 AND code = 'accepted'
            """),
        .definition(
            """
            CREATE INDEX journal_rejected ON journal (app_key, at, entry_key) WHERE kind = 3 AND code <> 'accepted'
            """),
        .definition(
            """
            CREATE INDEX journal_by_code ON journal (app_key, code, at, entry_key) WHERE kind = 3 AND code <> 'accepted'
            """),
        .definition(
            """
            CREATE INDEX journal_by_customer ON journal (customer_key, kind, at, entry_key)
            WHERE customer_key IS NOT NULL
            """),
        .definition(
            """
            CREATE INDEX journal_by_order ON journal (order_key, at, entry_key) WHERE kind = 3 AND order_key IS NOT NULL
            """),
        .definition(
            """
            CREATE INDEX journal_by_transaction ON journal (transaction_key, kind, at, entry_key)
            WHERE transaction_key IS NOT NULL
            """),
        .appendOnly(
            AppendOnlyRule(
                table: "journal",
                columns: [
                    "entry_key", "entry_id", "leaf", "app_key", "customer_key", "order_key", "transaction_key",
                    "evidence_key", "kind", "code", "at", "mac",
                ],
                keys: ["entry_key", "entry_id"], erasable: ["salt", "details"])),
        .definition(
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
            """),
        .definition("CREATE INDEX events_by_app ON events (app_key, event_key)"),
    ]

    private static let evidence: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE evidence (
                evidence_key INTEGER PRIMARY KEY,
                sha256 BLOB NOT NULL UNIQUE,
                size INTEGER NOT NULL,
                content BLOB)
            """),
        .appendOnly(
            AppendOnlyRule(
                table: "evidence", columns: ["evidence_key", "sha256", "size"], keys: ["evidence_key", "sha256"],
                erasable: [], refillable: ["content"], ignoresDuplicates: true)),
        // Certificates that many pieces of evidence share. Their content names no customer.
        .definition(
            """
            CREATE TABLE evidence_parts (
                part_key INTEGER PRIMARY KEY, sha256 BLOB NOT NULL UNIQUE, content BLOB)
            """),
        .appendOnly(
            AppendOnlyRule(
                table: "evidence_parts", columns: ["part_key", "sha256"], keys: ["part_key", "sha256"],
                erasable: [], refillable: ["content"])),
        // The use of the daily budget; `key_id` is empty for a whole app.
        .definition(
            """
            CREATE TABLE unverified_evidence (
                app_key INTEGER NOT NULL, key_id TEXT NOT NULL, day INTEGER NOT NULL, bytes INTEGER NOT NULL,
                PRIMARY KEY (app_key, key_id, day)) WITHOUT ROWID
            """),
        // Verified evidence with a bundle id that no app has, or without an environment: it is observed when that
        // changes. The key comes first, because SQLite 3.40 checks the columns of a table without row ids in the order
        // of its key, and reports missing values.
        .definition(
            """
            CREATE TABLE held_evidence (
                bundle_id TEXT NOT NULL, evidence_key INTEGER NOT NULL, entry_key INTEGER NOT NULL,
                PRIMARY KEY (bundle_id, evidence_key)) WITHOUT ROWID
            """),
    ]
}
