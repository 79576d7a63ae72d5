/// The rows of a derived table in a form that does not depend on the numbers of a database.
struct TableDump: Sendable {
    let name: String
    /// The columns of the key come first.
    let keyCount: Int
    /// The primary key of the table, which orders the pages.
    let pageKey: [String]
    /// The key and all other columns.
    let columns: String
    /// The table, with the tables that it refers to. Joins are `LEFT`, so that a row without references is read, too.
    let source: String
    /// The rows that are compared; `nil` for all.
    var condition: String?

    /// Every table that the journal determines.
    static let all: [TableDump] =
        registry + customers + purchases + entitlements + orders + seats
        + [notifications, appStoreClaims, events]

    /// The tables, and the columns of orders, that entries determine without their evidence.
    static let ofEntries: [TableDump] =
        all.filter {
            [
                "apps", "bundles", "settings_history", "rules", "api_keys", "customers", "account_tokens", "testers",
                "consumptions", "notifications", "customer_moves",
            ].contains($0.name)
        } + [
            TableDump(
                name: "orders", keyCount: 1, pageKey: ["orders.order_key"],
                columns: """
                    orders.order_id, apps.name, customers.reference, products.product_id, orders.quantity,
                    environments.name, orders.token, orders.metadata, orders.created_at, orders.expires_at,
                    orders.accepts_renewal, orders.fulfilled_units
                    """,
                source: """
                    orders \(join("apps", "app_key", "orders")) \(join("customers", "customer_key", "orders"))
                    \(join("products", "product_key", "orders"))
                    LEFT JOIN environments ON environments.environment_key = orders.environment
                    """)
        ]

    private static let registry: [TableDump] = [
        TableDump(name: "apps", keyCount: 1, pageKey: ["apps.app_key"], columns: "apps.name", source: "apps"),
        TableDump(
            name: "environments", keyCount: 1, pageKey: ["environments.environment_key"],
            columns: "environments.name", source: "environments"),
        TableDump(
            name: "bundles", keyCount: 1, pageKey: ["bundles.bundle_id"],
            columns: "bundles.bundle_id, apps.name, journal.entry_id",
            source: "bundles \(join("apps", "app_key", "bundles")) \(join("journal", "entry_key", "bundles"))"),
        TableDump(
            name: "products", keyCount: 2, pageKey: ["products.product_key"],
            columns: "apps.name, products.product_id, products.first_known_at",
            source: "products \(join("apps", "app_key", "products"))"),
        TableDump(
            name: "settings_history", keyCount: 2, pageKey: ["settings_history.settings_key"],
            columns: """
                apps.name, journal.entry_id, settings_history.sha256, settings_history.body,
                settings_history.settings_key
                """,
            source: """
                settings_history \(join("apps", "app_key", "settings_history"))
                \(join("journal", "entry_key", "settings_history"))
                """),
        TableDump(
            name: "rules", keyCount: 1, pageKey: ["rules.version"], columns: "rules.version, journal.entry_id",
            source: "rules \(join("journal", "entry_key", "rules"))"),
        TableDump(
            name: "api_keys", keyCount: 1, pageKey: ["api_keys.key_id"],
            columns: """
                api_keys.key_id, apps.name, api_keys.name, api_keys.scopes, api_keys.secret_sha256, api_keys.created_at,
                api_keys.revoked_at
                """,
            source: "api_keys \(join("apps", "app_key", "api_keys"))"),
        TableDump(
            name: "evidence", keyCount: 1, pageKey: ["evidence.evidence_key"], columns: "evidence.sha256",
            source: "evidence"),
        TableDump(
            name: "held_evidence", keyCount: 2, pageKey: ["held_evidence.bundle_id", "held_evidence.evidence_key"],
            columns: "held_evidence.bundle_id, evidence.sha256, journal.entry_id",
            source: """
                held_evidence \(join("evidence", "evidence_key", "held_evidence"))
                \(join("journal", "entry_key", "held_evidence"))
                """),
    ]

    private static let notifications = TableDump(
        name: "notifications", keyCount: 3,
        pageKey: ["notifications.app_key", "notifications.environment", "notifications.notification_id"],
        columns: """
            apps.name, environments.name, notifications.notification_id, journal.entry_id, notifications.type,
            notifications.subtype
            """,
        source: """
            notifications \(join("apps", "app_key", "notifications"))
            LEFT JOIN environments ON environments.environment_key = notifications.environment
            \(join("journal", "entry_key", "notifications"))
            """)

    private static let seats: [TableDump] = [
        TableDump(
            name: "seats", keyCount: 2, pageKey: ["seats.entry_key"],
            columns: """
                apps.name, seats.seat_id, environments.name, originals.original_id, originals.xcode_second,
                customers.reference, seats.request_id, seats.app_transaction_id, seats.claimed_at, seats.ended_at,
                journal.entry_id
                """,
            source: """
                seats \(join("apps", "app_key", "seats")) \(join("originals", "original_key", "seats"))
                LEFT JOIN environments ON environments.environment_key = originals.environment
                \(join("customers", "customer_key", "seats")) \(join("journal", "entry_key", "seats"))
                """),
        TableDump(
            name: "seat_access", keyCount: 4, pageKey: ["seat_access.original_key", "seat_access.product_key"],
            columns: """
                environments.name, originals.original_id, originals.xcode_second, products.product_id,
                seat_access.timeline, seat_access.numbers
                """,
            source: """
                seat_access LEFT JOIN environments ON environments.environment_key = seat_access.environment
                \(join("originals", "original_key", "seat_access")) \(join("products", "product_key", "seat_access"))
                """),
        TableDump(
            name: "unclaimed_seats", keyCount: 2, pageKey: ["unclaimed_seats.app_key", "unclaimed_seats.seat_id"],
            columns: "apps.name, unclaimed_seats.seat_id, journal.entry_id",
            source: """
                unclaimed_seats \(join("apps", "app_key", "unclaimed_seats"))
                \(join("journal", "entry_key", "unclaimed_seats"))
                """),
    ]

    private static let customers: [TableDump] = [
        TableDump(
            name: "customers", keyCount: 1, pageKey: ["customers.customer_key"],
            columns: """
                customers.reference, apps.name, customers.name, target.reference, journal.entry_id, customers.token
                """,
            source: """
                customers \(join("apps", "app_key", "customers"))
                LEFT JOIN customers AS target ON target.customer_key = customers.merged_into
                LEFT JOIN journal ON journal.entry_key = customers.merge_entry
                """),
        TableDump(
            name: "customer_moves", keyCount: 2,
            pageKey: ["customer_moves.target_key", "customer_moves.customer_key"],
            columns: "target.reference, customers.reference, journal.entry_id",
            source: """
                customer_moves LEFT JOIN customers AS target ON target.customer_key = customer_moves.target_key
                \(join("customers", "customer_key", "customer_moves"))
                \(join("journal", "entry_key", "customer_moves"))
                """),
        TableDump(
            name: "account_tokens", keyCount: 2, pageKey: ["account_tokens.app_key", "account_tokens.token"],
            // An erasure keeps the tokens of a customer, and not the entries that assigned them.
            columns: """
                apps.name, account_tokens.token, customers.reference,
                CASE WHEN customers.name IS NULL THEN NULL ELSE journal.entry_id END
                """,
            source: """
                account_tokens \(join("apps", "app_key", "account_tokens"))
                \(join("customers", "customer_key", "account_tokens"))
                \(join("journal", "entry_key", "account_tokens"))
                """),
        TableDump(
            name: "testers", keyCount: 2, pageKey: ["testers.app_key", "testers.customer_key"],
            columns: "apps.name, customers.reference, journal.entry_id",
            source: """
                testers \(join("apps", "app_key", "testers")) \(join("customers", "customer_key", "testers"))
                \(join("journal", "entry_key", "testers"))
                """),
        TableDump(
            name: "hand_grants", keyCount: 1, pageKey: ["hand_grants.grant_key"],
            columns: """
                hand_grants.grant_id, apps.name, customers.reference, products.product_id, environments.name,
                hand_grants.kind, hand_grants.quantity, originals.original_id, hand_grants.revoked_shared,
                revoked.grant_id, hand_grants.starts_at, hand_grants.ends_at, hand_grants.lifted_at, journal.entry_id,
                hand_grants.source, hand_grants.reference
                """,
            source: """
                hand_grants \(join("apps", "app_key", "hand_grants"))
                \(join("customers", "customer_key", "hand_grants")) \(join("products", "product_key", "hand_grants"))
                LEFT JOIN environments ON environments.environment_key = hand_grants.environment
                LEFT JOIN originals ON originals.original_key = hand_grants.revoked_original
                LEFT JOIN hand_grants AS revoked ON revoked.grant_key = hand_grants.revoked_grant
                \(join("journal", "entry_key", "hand_grants"))
                """),
    ]

    private static let purchases: [TableDump] = [
        TableDump(
            name: "originals", keyCount: 3, pageKey: ["originals.original_key"],
            columns: "environments.name, originals.original_id, originals.xcode_second, apps.name",
            source: """
                originals LEFT JOIN environments ON environments.environment_key = originals.environment
                \(join("apps", "app_key", "originals"))
                """),
        TableDump(
            name: "transactions", keyCount: 3, pageKey: ["transactions.transaction_key"],
            columns: """
                environments.name, transactions.transaction_id, transactions.xcode_second,
                origin.name, originals.original_id, originals.xcode_second, apps.name, products.product_id,
                transactions.facts, evidence.sha256, transactions.known_at, transactions.kind, transactions.duration,
                transactions.token, customers.reference, transactions.owner_reason, transactions.app_transaction_id
                """,
            source: """
                transactions LEFT JOIN environments ON environments.environment_key = transactions.environment
                LEFT JOIN originals ON originals.original_key = transactions.original_key
                LEFT JOIN environments AS origin ON origin.environment_key = originals.environment
                LEFT JOIN apps ON apps.app_key = originals.app_key
                \(join("products", "product_key", "transactions"))
                \(join("evidence", "evidence_key", "transactions"))
                LEFT JOIN customers ON customers.customer_key = transactions.owner_key
                """),
        TableDump(
            name: "renewals", keyCount: 4,
            pageKey: [
                "renewals.environment", "renewals.original_id", "renewals.beside", "renewals.concern",
            ],
            columns: """
                environments.name, renewals.original_id, renewals.beside, renewals.concern, renewals.facts,
                evidence.sha256
                """,
            source: """
                renewals LEFT JOIN environments ON environments.environment_key = renewals.environment
                \(join("evidence", "evidence_key", "renewals"))
                """),
        TableDump(
            name: "ownership_acts", keyCount: 6,
            pageKey: [
                "ownership_acts.original_key", "ownership_acts.entry_key", "ownership_acts.transaction_key",
            ],
            columns: """
                journal.entry_id, environments.name, originals.original_id, originals.xcode_second,
                transactions.transaction_id, transactions.xcode_second, customers.reference, former.reference,
                ownership_acts.kind
                """,
            source: """
                ownership_acts \(join("journal", "entry_key", "ownership_acts"))
                \(join("originals", "original_key", "ownership_acts"))
                LEFT JOIN environments ON environments.environment_key = originals.environment
                \(join("transactions", "transaction_key", "ownership_acts"))
                \(join("customers", "customer_key", "ownership_acts"))
                LEFT JOIN customers AS former ON former.customer_key = ownership_acts.former_key
                """),
    ]

    private static let entitlements: [TableDump] = [
        TableDump(
            name: "entitlements", keyCount: 7,
            pageKey: [
                "entitlements.customer_key", "entitlements.product_key", "entitlements.environment",
                "entitlements.ground",
            ],
            columns: """
                customers.reference, products.product_id, environments.name, originals.original_id,
                originals.xcode_second, hand_grants.grant_id, entitlements.kind, entitlements.balance,
                entitlements.shortfall, entitlements.timeline, entitlements.reason,
                CASE WHEN originals.original_key IS NULL AND hand_grants.grant_key IS NULL THEN entitlements.ground END
                """,
            source: """
                entitlements \(join("customers", "customer_key", "entitlements"))
                \(join("products", "product_key", "entitlements"))
                LEFT JOIN environments ON environments.environment_key = entitlements.environment
                LEFT JOIN originals ON originals.original_key = entitlements.ground
                LEFT JOIN hand_grants ON hand_grants.grant_key = -entitlements.ground
                """),
        TableDump(
            name: "lots", keyCount: 4, pageKey: ["lots.ground"],
            columns: """
                environments.name, originals.original_id, originals.xcode_second, hand_grants.grant_id,
                customers.reference, products.product_id, lots.quantity, lots.withdrawn, lots.taken, lots.available,
                lots.purchased_at, lots.reason
                """,
            source: """
                lots \(join("customers", "customer_key", "lots")) \(join("products", "product_key", "lots"))
                LEFT JOIN environments ON environments.environment_key = lots.environment
                LEFT JOIN originals ON originals.original_key = lots.ground
                LEFT JOIN hand_grants ON hand_grants.grant_key = -lots.ground
                """),
        TableDump(
            name: "takes", keyCount: 5, pageKey: ["takes.ground", "takes.customer_key"],
            columns: """
                environments.name, originals.original_id, originals.xcode_second, hand_grants.grant_id,
                customers.reference, takes.units
                """,
            source: """
                takes \(join("customers", "customer_key", "takes"))
                LEFT JOIN originals ON originals.original_key = takes.ground
                LEFT JOIN environments ON environments.environment_key = originals.environment
                LEFT JOIN hand_grants ON hand_grants.grant_key = -takes.ground
                """),
        TableDump(
            name: "consumptions", keyCount: 2, pageKey: ["consumptions.customer_key", "consumptions.consumption_id"],
            columns: """
                customers.reference, consumptions.consumption_id, journal.entry_id, products.product_id,
                environments.name, consumptions.quantity
                """,
            source: """
                consumptions \(join("customers", "customer_key", "consumptions"))
                \(join("journal", "entry_key", "consumptions")) \(join("products", "product_key", "consumptions"))
                LEFT JOIN environments ON environments.environment_key = consumptions.environment
                """),
    ]

    private static let orders: [TableDump] = [
        TableDump(
            name: "orders", keyCount: 1, pageKey: ["orders.order_key"],
            columns: """
                orders.order_id, apps.name, customers.reference, products.product_id, orders.quantity,
                environments.name, orders.token, orders.metadata, orders.created_at, orders.expires_at, orders.status,
                payer.name, transactions.transaction_id, transactions.xcode_second, orders.paid_at,
                orders.fulfilled_at, orders.closed_at, orders.accepts_renewal, orders.fulfilled_units
                """,
            source: """
                orders \(join("apps", "app_key", "orders")) \(join("customers", "customer_key", "orders"))
                \(join("products", "product_key", "orders"))
                LEFT JOIN environments ON environments.environment_key = orders.environment
                LEFT JOIN transactions ON transactions.transaction_key = orders.paid_by
                LEFT JOIN environments AS payer ON payer.environment_key = transactions.environment
                """)
    ]

    /// Attempts and leases change without a journal entry.
    private static let appStoreClaims = TableDump(
        name: "app_store_claims", keyCount: 1, pageKey: ["app_store_claims.entry_key"],
        columns: """
            journal.entry_id, apps.name, customers.reference, evidence.sha256, app_store_claims.waits,
            app_store_claims.received_at, CASE WHEN app_store_claims.next_at IS NULL THEN 1 ELSE 0 END,
            answers.entry_id, decisions.entry_id
            """,
        source: """
            app_store_claims \(join("journal", "entry_key", "app_store_claims"))
            \(join("apps", "app_key", "app_store_claims")) \(join("customers", "customer_key", "app_store_claims"))
            \(join("evidence", "evidence_key", "app_store_claims"))
            LEFT JOIN journal AS answers ON answers.entry_key = app_store_claims.answer_entry
            LEFT JOIN journal AS decisions ON decisions.entry_key = app_store_claims.decision_entry
            """)

    /// Some events cannot be computed again: the corrections of a repair, and those that an erasure removed. These are
    /// the events of erased customers, of originals with an erased purchase, and of customers who owned such a purchase
    /// before, since it was part of their balances. Who is told of a rescinded consent depends on a download of the
    /// app, which an erasure deletes from the entry.
    private static let events = TableDump(
        name: "events", keyCount: 10, pageKey: ["events.event_key"],
        columns: """
            journal.entry_id, events.type, apps.name, customers.reference, former.reference, environments.name,
            products.product_id, transactions.transaction_id, originals.original_id, orders.order_id, events.figures
            """,
        source: """
            events \(join("journal", "entry_key", "events")) \(join("apps", "app_key", "events"))
            \(join("customers", "customer_key", "events"))
            LEFT JOIN customers AS former ON former.customer_key = events.former_key
            LEFT JOIN environments ON environments.environment_key = events.environment
            \(join("products", "product_key", "events")) \(join("transactions", "transaction_key", "events"))
            \(join("originals", "original_key", "events")) \(join("orders", "order_key", "events"))
            """,
        condition: """
            events.type <> 'corrected' AND (events.type <> 'consent_rescinded' OR journal.details IS NOT NULL)
            AND (events.customer_key IS NULL OR customers.customer_key IS NULL OR customers.name IS NOT NULL)
            AND (events.transaction_key IS NULL OR transactions.transaction_key IS NULL OR transactions.product_key <> 0)
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
            """)

    /// The originals with an erased purchase, which has no product (`transactions_erased`).
    private static let erasedOriginals = "SELECT original_key FROM transactions WHERE product_key = 0"

    /// Joins a table by a key that both tables have.
    private static func join(_ table: String, _ key: String, _ referring: String) -> String {
        "LEFT JOIN \(table) ON \(table).\(key) = \(referring).\(key)"
    }

    /// A page of rows: the primary key, and the dumped columns.
    struct Page: Sendable {
        var rows: [[LedgerValue]] = []
        /// The start of the next page; `nil` after the last one.
        var next: [LedgerValue]?
    }

    /// Reads the rows after a primary key.
    func page(
        after key: [LedgerValue]?, limit: Int, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> Page {
        let order = pageKey.joined(separator: ", ")
        let places = pageKey.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let conditions = [key.map { _ in "(\(order)) > (\(places))" }, condition].compactMap(\.self)
        let condition = conditions.isEmpty ? "" : "WHERE " + conditions.map { "(\($0))" }.joined(separator: " AND ")
        let rows = try connection.rows(
            "SELECT \(order), \(columns) FROM \(source) \(condition) ORDER BY \(order) LIMIT \(limit)", key ?? [])
        var page = Page()
        page.rows.reserveCapacity(rows.count)
        for row in rows { page.rows.append(Self.exact(row.values.dropFirst(pageKey.count))) }
        if rows.count == limit { page.next = rows.last.map { Array($0.values.prefix(pageKey.count)) } }
        return page
    }

    /// Text is compared as bytes: names that are equal in Unicode can be two rows.
    private static func exact(_ values: ArraySlice<LedgerValue>) -> [LedgerValue] {
        values.map { value in
            if case .text(let text) = value { .blob(Array(text.utf8)) } else { value }
        }
    }

    /// The rows by their keys.
    func rows(_ connection: any LedgerConnection) throws(LedgerStorageError) -> [[LedgerValue]: [LedgerValue]] {
        var rows: [[LedgerValue]: [LedgerValue]] = [:]
        for row in try connection.rows("SELECT \(columns) FROM \(source)", []) {
            add(Self.exact(row.values[...]), to: &rows)
        }
        return rows
    }

    /// Adds a row. Of two rows with the same key both are compared; otherwise one would hide the other.
    func add(_ values: [LedgerValue], to rows: inout [[LedgerValue]: [LedgerValue]]) {
        var key = Array(values.prefix(keyCount))
        while rows[key] != nil { key.append(.null) }
        rows[key] = Array(values.dropFirst(keyCount))
    }

    /// The differences between the rows of the ledger and those of a rebuild.
    func findings(
        ledger: [[LedgerValue]: [LedgerValue]], rebuilt: [[LedgerValue]: [LedgerValue]]
    ) -> [AuditFinding] {
        var findings: [AuditFinding] = []
        for (key, row) in ledger {
            guard let expected = rebuilt[key] else {
                findings.append(AuditFinding(kind: .rowUnknown, detail: "\(name) \(Self.text(key))"))
                continue
            }
            guard row != expected else { continue }
            let columns = zip(row, expected).enumerated().filter { $0.element.0 != $0.element.1 }.map {
                "column \($0.offset + keyCount + 1): \(Self.text([$0.element.0])) instead of \(Self.text([$0.element.1]))"
            }
            findings.append(
                AuditFinding(
                    kind: .rowDiffers, detail: "\(name) \(Self.text(key)): \(columns.joined(separator: ", "))"))
        }
        for key in rebuilt.keys where ledger[key] == nil {
            findings.append(AuditFinding(kind: .rowMissing, detail: "\(name) \(Self.text(key))"))
        }
        return findings.sorted { $0.detail < $1.detail }
    }

    private static func text(_ values: [LedgerValue]) -> String {
        values.map { value in
            switch value {
            case .null: "null"
            case .integer(let number): "\(number)"
            case .text(let text): text
            case .blob(let bytes):
                bytes.allSatisfy { (0x20..<0x7F).contains($0) }
                    ? String(decoding: bytes.prefix(64), as: UTF8.self) : Array(bytes.prefix(32)).hexadecimal
            }
        }.joined(separator: "/")
    }
}
