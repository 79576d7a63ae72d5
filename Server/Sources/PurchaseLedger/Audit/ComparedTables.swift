/// The tables that the journal determines, in the form in which two databases of a ledger can be compared.
///
/// The schema says which tables and columns there are, so a new column is compared without a change here. A table or
/// column that the journal does not determine is named here, with the reason.
package enum ComparedTables {
    /// The tables that the journal does not determine.
    static let excluded = checkedOtherwise.union(unchecked)

    /// The tables that are checked in another way: `JournalCheck` and `LogAudit` check what the other tables are
    /// compared with, and evidence is checked by its hashes.
    private static let checkedOtherwise: Set<String> = [
        "journal", "log_entries", "log_state", "log_tiles", "evidence_parts",
    ]

    /// The tables that nothing checks.
    private static let unchecked: Set<String> = [
        // What was received beside the evidence.
        "notification_bodies", "unverified_evidence",
        // A way to evidence, without the evidence that was stored before the table existed.
        "app_receipts",
        // What happens without a journal entry.
        "idempotency", "key_uses", "readiness", "webhooks", "webhook_deliveries", "work",
        // Who may sign in to the console. What operators do is in the journal.
        "operators", "operator_sessions", "operator_log",
        // Drawings of the console; entries that were sealed before the table existed are not in it.
        "hourly_counts",
    ]

    /// What identifies an event, besides its figures.
    static let eventKey = [
        "entry_key", "type", "app_key", "customer_key", "former_key", "environment", "product_key", "transaction_key",
        "original_key", "order_key",
    ]

    /// What differs from the rule that every column is compared, by table.
    private static let differences: [String: TableDump.Difference] = [
        "evidence": .init(only: ["sha256"]),
        // An erasure keeps the tokens of a customer, and not the entries that assigned them.
        "account_tokens": .init(replaced: [
            "entry_key": """
            CASE WHEN account_tokens_customer_key.name IS NULL THEN NULL ELSE account_tokens_entry_key.entry_id END
            """
        ]),
        // Its number is compared, too, and does not identify a version of the settings.
        "settings_history": .init(key: ["app_key", "entry_key"]),
        // An order by the numbers of entries, which another database can number otherwise.
        "external_line_items": .init(replaced: [
            "waiting": "CASE WHEN external_line_items.waiting IS NULL THEN 0 ELSE 1 END"
        ]),
        "events": .init(
            without: ["event_key"],
            key: eventKey,
            condition: recomputedEvents),
    ]

    /// What no audit compares, as `table.*` or `table.column`; docs/record.md lists it with what a change does.
    package static var uncompared: Set<String> {
        var names = Set(unchecked.map { "\($0).*" })
        for (table, difference) in differences {
            for column in difference.without.union(difference.replaced.keys) { names.insert("\(table).\(column)") }
        }
        // It is compared, except after an erasure.
        return names.subtracting(["account_tokens.entry_key"])
    }

    /// A query of the numbers of the events that are compared.
    static func comparedEvents() throws(LedgerStorageError) -> String {
        try all().filter { $0.name == "events" }.map { $0.query("events.event_key") }.joined()
    }

    /// Every table that the journal determines.
    static func all() throws(LedgerStorageError) -> [TableDump] {
        try StoredTable.all().filter { !excluded.contains($0.name) }.map {
            TableDump($0, differences[$0.name] ?? .init())
        }
    }

    /// The tables, and the columns of orders, that entries determine without their evidence.
    static func ofEntries() throws(LedgerStorageError) -> [TableDump] {
        try StoredTable.all().compactMap { table in
            switch table.name {
            case "apps", "bundles", "settings_history", "rules", "api_keys", "customers", "account_tokens", "testers",
                "consumptions", "notifications", "consumption_consents", "offer_signatures",
                "refused_claims", "stripe_events":
                TableDump(table, differences[table.name] ?? .init())
            case "orders":
                TableDump(table, .init(without: ["status", "paid_by", "paid_at", "fulfilled_at", "closed_at"]))
            default: nil
            }
        }
    }

    /// Some events cannot be computed again: those that an erasure removed. These are the events of erased customers,
    /// of originals with an erased purchase, and of customers who owned such a purchase before, since it was part of
    /// their balances. Who is told of a rescinded consent depends on a download of the app, which an erasure deletes
    /// from the entry.
    private static let recomputedEvents = """
        (events.type <> 'consent_rescinded' OR events_entry_key.details IS NOT NULL)
        AND (events.customer_key IS NULL OR events_customer_key.customer_key IS NULL
        OR events_customer_key.name IS NOT NULL)
        AND (events.transaction_key IS NULL OR events_transaction_key.transaction_key IS NULL
        OR events_transaction_key.product_key <> 0)
        AND (events.original_key IS NULL OR events.original_key NOT IN (\(erasedOriginals)))
        AND (events.customer_key IS NULL OR events.customer_key NOT IN (
            WITH RECURSIVE touched (customer_key) AS (
                SELECT customer_key FROM ownership_acts WHERE original_key IN (\(erasedOriginals))
                UNION
                SELECT former_key FROM ownership_acts
                WHERE original_key IN (\(erasedOriginals)) AND former_key IS NOT NULL
                UNION
                SELECT customers.merged_into FROM touched
                JOIN customers ON customers.customer_key = touched.customer_key
                WHERE customers.merged_into IS NOT NULL)
            SELECT customer_key FROM touched))
        """

    /// The originals with an erased purchase, which has no product (`transactions_erased`).
    private static let erasedOriginals = "SELECT original_key FROM transactions WHERE product_key = 0"
}
