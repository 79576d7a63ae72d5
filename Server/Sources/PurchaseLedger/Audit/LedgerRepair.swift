import PurchaseVerification

/// Replaces the derived tables of a ledger by those of a rebuild.
struct LedgerRepair {
    /// The tables that a rebuild computes, with their references.
    private static let tables = [
        "customers", "account_tokens", "testers", "products", "originals", "renewals", "transactions", "ownership_acts",
        "entitlements", "lots", "takes", "consumptions", "hand_grants", "orders",
    ]
    /// Rows that the journal refers to by number. The numbers of a rebuild are the same, or nothing is written.
    private static let references = [
        "SELECT customer_key, reference FROM customers ORDER BY customer_key",
        "SELECT order_key, order_id FROM orders ORDER BY order_key",
        "SELECT evidence_key, sha256 FROM evidence ORDER BY evidence_key",
        "SELECT entry_key, entry_id FROM journal ORDER BY entry_key",
    ]
    /// Rows that get other numbers in a rebuild after an erasure, because the rebuild reads the erasure earlier than
    /// the ledger did: their meaning, and the positions of the columns that name them. Entries and events name them by
    /// the ledger's numbers.
    private static let numbered: [(identities: String, columns: [(table: String, column: Int)])] = [
        (
            "SELECT product_key, app_key, product_id FROM products",
            [
                ("products", 0), ("transactions", 5), ("entitlements", 1), ("lots", 2), ("consumptions", 3),
                ("hand_grants", 4), ("orders", 4),
            ]
        ),
        (
            "SELECT original_key, environment, original_id, xcode_second FROM originals",
            [
                ("originals", 0), ("transactions", 1), ("ownership_acts", 0), ("entitlements", 3), ("lots", 0),
                ("takes", 0), ("hand_grants", 8),
            ]
        ),
        (
            "SELECT transaction_key, environment, transaction_id, xcode_second FROM transactions",
            [("transactions", 0), ("ownership_acts", 2), ("orders", 12)]
        ),
    ]

    /// The rows of a rebuild.
    struct Content: Sendable {
        fileprivate var tables: [String: [LedgerRow]] = [:]
        fileprivate var references: [[LedgerValue]] = []
        /// The meaning of each numbered row, by its number.
        fileprivate var identities: [[LedgerRow]] = []
    }

    /// Reads a rebuild.
    static func content(_ rebuilt: any LedgerConnection) throws(LedgerStorageError) -> Content {
        var content = Content()
        for table in tables { content.tables[table] = try rebuilt.rows("SELECT * FROM \(table)", []) }
        for rows in numbered { content.identities.append(try rebuilt.rows(rows.identities, [])) }
        content.references = try references(rebuilt)
        return content
    }

    /// Replaces the tables, and writes down why.
    ///
    /// - Throws: `corrupt` if the numbers of the rebuild are others, or if the journal grew since; then nothing is written.
    static func write(_ content: Content, findings: Int, _ transaction: LedgerTransaction) throws(LedgerStorageError) {
        let connection = transaction.connection
        guard try references(connection) == content.references else {
            throw LedgerStorageError(
                .corrupt, "the rebuild numbers its rows differently, or the journal grew; stop the server and try again"
            )
        }
        let entitlements = TableDump.all.first { $0.name == "entitlements" }
        let before = try entitlements?.rows(connection) ?? [:]
        let renumbered = try renumbered(content, connection)
        for table in tables {
            try connection.execute("DELETE FROM \(table)", [])
            for row in renumbered.tables[table] ?? [] {
                let places = row.values.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
                try connection.execute("INSERT INTO \(table) VALUES (\(places))", row.values)
            }
        }
        let entry = try transaction.journal.append(
            transaction.draft(nil),
            RulesDetails(version: RegisterSettings.rulesVersion, repair: "\(findings) findings"))
        try RulesTable(connection: connection).insertIfNew(RegisterSettings.rulesVersion, entry: entry.key)
        let after = try entitlements?.rows(connection) ?? [:]
        try writeCorrections(before, after, entry, transaction)
    }

    /// The rows with the numbers that they have in the ledger. A row that is not there gets a number that was never given.
    private static func renumbered(
        _ content: Content, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> Content {
        var renumbered = content
        for (rows, identities) in zip(numbered, content.identities) {
            var numbers: [[LedgerValue]: LedgerValue] = [:]
            var last: Int64 = 0
            for row in try connection.rows(rows.identities, []) {
                guard case .integer(let key)? = row.values.first else { continue }
                numbers[identity(row)] = .integer(key)
                last = max(last, key)
            }
            var places: [LedgerValue: LedgerValue] = [:]
            for row in identities {
                let identity = identity(row)
                if numbers[identity] == nil {
                    last += 1
                    numbers[identity] = .integer(last)
                }
                if let key = row.values.first { places[key] = numbers[identity] }
            }
            for (table, column) in rows.columns {
                renumbered.tables[table] = renumbered.tables[table]?.map { row in
                    var values = row.values
                    values[column] = places[values[column]] ?? values[column]
                    return LedgerRow(values: values)
                }
            }
        }
        return renumbered
    }

    /// The meaning of a numbered row. Text is compared by its bytes.
    private static func identity(_ row: LedgerRow) -> [LedgerValue] {
        row.values.dropFirst().map { value in
            if case .text(let text) = value { .blob(Array(text.utf8)) } else { value }
        }
    }

    /// One event for each customer and product whose entitlement changed.
    private static func writeCorrections(
        _ before: [[LedgerValue]: [LedgerValue]], _ after: [[LedgerValue]: [LedgerValue]], _ entry: JournalEntry,
        _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) {
        var corrected: Set<[LedgerValue]> = []
        for key in Set(before.keys).union(after.keys) where before[key] != after[key] { corrected.insert(key) }
        let connection = transaction.connection
        // A row's key begins with the customer's reference, the product and the environment.
        for subject in Set(corrected.map { Array($0.prefix(3)) }).sorted(by: { "\($0)" < "\($1)" }) {
            guard case .blob(let reference)? = subject.first,
                let customer = try CustomersTable(connection: connection).row(reference: reference),
                let name = try AppsTable(connection: connection).all().first(where: { $0.key == customer.appKey })?.name
            else { continue }
            let app =
                transaction.registry.app(key: customer.appKey)
                ?? RegistryApp(key: customer.appKey, settings: RegisteredApp(id: name, bundleIDs: []))
            let events = EventWriter(transaction: transaction, app: app, entry: entry)
            var event = events.event(.corrected)
            if let product = text(subject[1]) {
                event.productKey = try transaction.products.key(product, appKey: customer.appKey)
            }
            if let environment = text(subject[2]) {
                event.environment = try transaction.environments.keyToWrite(of: AppStoreEnvironment(environment))
            }
            try events.write(event, customer: customer.key)
        }
    }

    private static func text(_ value: LedgerValue) -> String? {
        if case .blob(let bytes) = value { String(decoding: bytes, as: UTF8.self) } else { nil }
    }

    private static func references(_ connection: any LedgerConnection) throws(LedgerStorageError) -> [[LedgerValue]] {
        var values: [[LedgerValue]] = []
        for sql in references { values += try connection.rows(sql, []).map(\.values) }
        return values
    }
}
