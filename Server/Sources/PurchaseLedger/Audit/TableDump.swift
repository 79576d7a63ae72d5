/// The rows of a derived table in words that do not depend on the numbers of a database.
struct TableDump {
    let name: String
    /// The columns of the key come first.
    let keyCount: Int
    let sql: String

    /// Every table that the journal determines.
    static let all: [TableDump] = [
        TableDump(
            name: "customers", keyCount: 1,
            sql: """
                SELECT customers.reference, apps.name, customers.name, target.reference, customers.token FROM customers
                JOIN apps ON apps.app_key = customers.app_key
                LEFT JOIN customers AS target ON target.customer_key = customers.merged_into
                """),
        TableDump(
            name: "account_tokens", keyCount: 2,
            sql: """
                SELECT apps.name, account_tokens.token, customers.reference FROM account_tokens
                JOIN apps ON apps.app_key = account_tokens.app_key
                JOIN customers ON customers.customer_key = account_tokens.customer_key
                """),
        TableDump(
            name: "testers", keyCount: 2,
            sql: """
                SELECT apps.name, customers.reference FROM testers JOIN apps ON apps.app_key = testers.app_key
                JOIN customers ON customers.customer_key = testers.customer_key
                """),
        TableDump(name: "bundles", keyCount: 1, sql: "SELECT bundle_id, name FROM bundles JOIN apps USING (app_key)"),
        TableDump(
            name: "transactions", keyCount: 3,
            sql: """
                SELECT environments.name, transactions.transaction_id, transactions.xcode_second,
                originals.original_id, originals.xcode_second, apps.name, products.product_id, transactions.facts,
                evidence.sha256, transactions.known_at, transactions.kind, transactions.duration, transactions.token,
                customers.reference, transactions.owner_reason
                FROM transactions JOIN environments ON environments.environment_key = transactions.environment
                JOIN originals ON originals.original_key = transactions.original_key
                JOIN apps ON apps.app_key = originals.app_key
                LEFT JOIN products ON products.product_key = transactions.product_key
                LEFT JOIN evidence ON evidence.evidence_key = transactions.evidence_key
                LEFT JOIN customers ON customers.customer_key = transactions.owner_key
                """),
        TableDump(
            name: "renewals", keyCount: 2,
            sql: """
                SELECT environments.name, original_id, facts FROM renewals
                JOIN environments ON environments.environment_key = renewals.environment
                """),
        TableDump(
            name: "ownership_acts", keyCount: 6,
            sql: """
                SELECT journal.entry_id, environments.name, originals.original_id, originals.xcode_second,
                transactions.transaction_id, transactions.xcode_second, customers.reference, former.reference,
                ownership_acts.kind FROM ownership_acts
                JOIN journal ON journal.entry_key = ownership_acts.entry_key
                JOIN originals ON originals.original_key = ownership_acts.original_key
                JOIN environments ON environments.environment_key = originals.environment
                JOIN transactions ON transactions.transaction_key = ownership_acts.transaction_key
                JOIN customers ON customers.customer_key = ownership_acts.customer_key
                LEFT JOIN customers AS former ON former.customer_key = ownership_acts.former_key
                """),
        TableDump(
            name: "entitlements", keyCount: 6,
            sql: """
                SELECT customers.reference, products.product_id, environments.name, originals.original_id,
                originals.xcode_second, hand_grants.grant_id, entitlements.kind, entitlements.balance,
                entitlements.shortfall, entitlements.timeline, entitlements.reason
                FROM entitlements JOIN customers ON customers.customer_key = entitlements.customer_key
                JOIN products ON products.product_key = entitlements.product_key
                JOIN environments ON environments.environment_key = entitlements.environment
                LEFT JOIN originals ON originals.original_key = entitlements.ground
                LEFT JOIN hand_grants ON hand_grants.grant_key = -entitlements.ground
                """),
        TableDump(
            name: "lots", keyCount: 4,
            sql: """
                SELECT environments.name, originals.original_id, originals.xcode_second, hand_grants.grant_id,
                customers.reference, products.product_id, lots.quantity, lots.withdrawn, lots.taken, lots.available,
                lots.purchased_at, lots.reason
                FROM lots JOIN customers ON customers.customer_key = lots.customer_key
                JOIN products ON products.product_key = lots.product_key
                JOIN environments ON environments.environment_key = lots.environment
                LEFT JOIN originals ON originals.original_key = lots.ground
                LEFT JOIN hand_grants ON hand_grants.grant_key = -lots.ground
                """),
        TableDump(
            name: "takes", keyCount: 5,
            sql: """
                SELECT environments.name, originals.original_id, originals.xcode_second, hand_grants.grant_id,
                customers.reference, takes.units FROM takes
                JOIN customers ON customers.customer_key = takes.customer_key
                LEFT JOIN originals ON originals.original_key = takes.ground
                LEFT JOIN environments ON environments.environment_key = originals.environment
                LEFT JOIN hand_grants ON hand_grants.grant_key = -takes.ground
                """),
        TableDump(
            name: "consumptions", keyCount: 2,
            sql: """
                SELECT customers.reference, consumption_id, journal.entry_id, products.product_id, environments.name,
                consumptions.quantity FROM consumptions
                JOIN customers ON customers.customer_key = consumptions.customer_key
                JOIN journal ON journal.entry_key = consumptions.entry_key
                JOIN products ON products.product_key = consumptions.product_key
                JOIN environments ON environments.environment_key = consumptions.environment
                """),
        TableDump(
            name: "hand_grants", keyCount: 1,
            sql: """
                SELECT hand_grants.grant_id, customers.reference, products.product_id, environments.name,
                hand_grants.kind, hand_grants.quantity, originals.original_id, hand_grants.revoked_shared,
                revoked.grant_id, hand_grants.starts_at, hand_grants.ends_at, hand_grants.lifted_at FROM hand_grants
                JOIN customers ON customers.customer_key = hand_grants.customer_key
                LEFT JOIN products ON products.product_key = hand_grants.product_key
                JOIN environments ON environments.environment_key = hand_grants.environment
                LEFT JOIN originals ON originals.original_key = hand_grants.revoked_original
                LEFT JOIN hand_grants AS revoked ON revoked.grant_key = hand_grants.revoked_grant
                """),
        TableDump(
            name: "orders", keyCount: 1,
            sql: """
                SELECT orders.order_id, apps.name, customers.reference, products.product_id, orders.quantity,
                environments.name, orders.token, orders.metadata, orders.created_at, orders.expires_at, orders.status,
                transactions.transaction_id, orders.paid_at, orders.fulfilled_at, orders.closed_at FROM orders
                LEFT JOIN apps ON apps.app_key = orders.app_key
                JOIN customers ON customers.customer_key = orders.customer_key
                LEFT JOIN products ON products.product_key = orders.product_key
                LEFT JOIN environments ON environments.environment_key = orders.environment
                LEFT JOIN transactions ON transactions.transaction_key = orders.paid_by
                """),
        TableDump(
            name: "api_keys", keyCount: 1,
            sql: """
                SELECT key_id, apps.name, api_keys.name, scopes, secret_sha256, created_at, revoked_at FROM api_keys
                JOIN apps ON apps.app_key = api_keys.app_key
                """),
    ]

    /// The rows by their keys.
    func rows(_ connection: any LedgerConnection) throws(LedgerStorageError) -> [[LedgerValue]: [LedgerValue]] {
        var rows: [[LedgerValue]: [LedgerValue]] = [:]
        for row in try connection.rows(sql, []) {
            // Text is compared as bytes: two names that Unicode takes for equal are two rows.
            let values = row.values.map { value in
                if case .text(let text) = value { LedgerValue.blob(Array(text.utf8)) } else { value }
            }
            var key = Array(values.prefix(keyCount))
            // Two rows of one key are both compared; otherwise one would hide the other.
            while rows[key] != nil { key.append(.null) }
            rows[key] = Array(values.dropFirst(keyCount))
        }
        return rows
    }

    /// How the rows of the ledger differ from those of a rebuild.
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
