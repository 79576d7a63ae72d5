import PurchaseVerification

/// Identifies the rows that others refer to by number by their meaning, which is the same in every database of a
/// ledger.
struct RowIdentities: Sendable {
    /// The tables whose rows are referred to by number, with a query of number and meaning.
    private static let queries: [(table: String, sql: String)] = [
        ("apps", "SELECT app_key, name FROM apps"),
        ("environments", "SELECT environment_key, name FROM environments"),
        ("customers", "SELECT customer_key, reference FROM customers"),
        ("orders", "SELECT order_key, order_id FROM orders"),
        ("hand_grants", "SELECT grant_key, grant_id FROM hand_grants"),
        ("evidence", "SELECT evidence_key, sha256 FROM evidence"),
        ("journal", "SELECT entry_key, entry_id FROM journal"),
        (
            "products",
            """
            SELECT product_key, apps.name, product_id FROM products LEFT JOIN apps ON apps.app_key = products.app_key
            """
        ),
        (
            "originals",
            """
            SELECT original_key, environments.name, original_id, xcode_second FROM originals
            LEFT JOIN environments ON environments.environment_key = originals.environment
            """
        ),
        (
            "transactions",
            """
            SELECT transaction_key, environments.name, transaction_id, xcode_second FROM transactions
            LEFT JOIN environments ON environments.environment_key = transactions.environment
            """
        ),
    ]
    /// The tables that a repair does not write.
    private static let fixed: Set<String> = ["apps", "environments", "evidence", "journal"]

    /// The number and the meaning of each row, by table.
    private var rows: [String: [(number: Int64, meaning: [LedgerValue])]] = [:]

    /// Reads a database.
    init(_ connection: any LedgerConnection) throws(LedgerStorageError) {
        for (table, sql) in Self.queries {
            var found: [(number: Int64, meaning: [LedgerValue])] = []
            for row in try connection.rows(sql, []) {
                var reader = row.reader
                found.append((try reader.integer(), Self.exact(row.values.dropFirst())))
            }
            rows[table] = found
        }
    }

    /// The table that a column of a derived table refers to; `nil` for other columns. A `ground` is an original if it
    /// is positive, and a manual grant if it is negative.
    static func table(namedBy column: String) -> String? {
        switch column {
        case "app_key": "apps"
        case "environment": "environments"
        case "customer_key", "former_key", "merged_into", "owner_key", "target_key": "customers"
        case "product_key": "products"
        case "original_key", "revoked_original": "originals"
        case "transaction_key", "paid_by": "transactions"
        case "order_key": "orders"
        case "grant_key", "revoked_grant": "hand_grants"
        case "evidence_key": "evidence"
        case "entry_key", "merge_entry": "journal"
        default: nil
        }
    }

    /// The ledger's numbers for the rows of this rebuild.
    ///
    /// - Throws: `corrupt` if the ledger's journal or evidence is not that of the rebuild.
    func numbers(in ledger: RowIdentities) throws(LedgerStorageError) -> RowNumbers {
        var numbers = RowNumbers()
        for (table, _) in Self.queries {
            let known = ledger.rows[table] ?? []
            var places: [[LedgerValue]: Int64] = [:]
            var last: Int64 = 0
            for row in known {
                places[row.meaning] = row.number
                last = max(last, row.number)
            }
            let rebuilt = rows[table] ?? []
            if table == "journal" || table == "evidence", rebuilt.count != known.count {
                throw LedgerStorageError(
                    .corrupt,
                    """
                    \(table) has \(known.count) rows, and the rebuild has \(rebuilt.count); stop the server and try again
                    """)
            }
            for row in rebuilt {
                if let number = places[row.meaning] {
                    numbers.add(table, row.number, number)
                    continue
                }
                guard !Self.fixed.contains(table) else {
                    throw LedgerStorageError(
                        .corrupt, "\(table) lacks row \(row.number) of the rebuild; stop the server and try again")
                }
                last += 1
                numbers.add(table, row.number, last)
            }
        }
        return numbers
    }

    /// Text is compared by its bytes.
    private static func exact(_ values: ArraySlice<LedgerValue>) -> [LedgerValue] {
        values.map { value in
            if case .text(let text) = value { .blob(Array(text.utf8)) } else { value }
        }
    }
}
