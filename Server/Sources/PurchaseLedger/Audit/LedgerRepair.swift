import PurchaseVerification

/// Replaces the derived tables of a ledger by those of a rebuild.
struct LedgerRepair {
    /// The tables that a rebuild computes, with what they refer to.
    private static let tables = [
        "customers", "account_tokens", "testers", "products", "originals", "renewals", "transactions", "ownership_acts",
        "entitlements", "lots", "takes", "consumptions", "hand_grants", "orders",
    ]
    /// What the journal refers to by number. The numbers of a rebuild are the same, or nothing is written.
    private static let references = [
        "SELECT customer_key, reference FROM customers ORDER BY customer_key",
        "SELECT order_key, order_id FROM orders ORDER BY order_key",
        "SELECT evidence_key, sha256 FROM evidence ORDER BY evidence_key",
        "SELECT entry_key, entry_id FROM journal ORDER BY entry_key",
    ]
    /// What the journal and events refer to by number, in tables that are replaced: the number, and what has it. A repair adds and
    /// removes rows, and no row that stays may get another number.
    private static let replaced = [
        "SELECT transaction_key, environment, transaction_id, xcode_second FROM transactions",
        "SELECT original_key, environment, original_id, xcode_second FROM originals",
        "SELECT product_key, app_key, product_id FROM products",
    ]

    /// The rows of a rebuild.
    struct Content: Sendable {
        fileprivate var tables: [String: [LedgerRow]] = [:]
        fileprivate var references: [[LedgerValue]] = []
        fileprivate var numbers: [[[LedgerValue]: LedgerValue]] = []
    }

    /// Reads a rebuild.
    static func content(_ rebuilt: any LedgerConnection) throws(LedgerStorageError) -> Content {
        var content = Content()
        for table in tables { content.tables[table] = try rebuilt.rows("SELECT * FROM \(table)", []) }
        content.references = try references(rebuilt)
        content.numbers = try numbers(rebuilt)
        return content
    }

    /// Replaces the tables, and writes down why.
    ///
    /// - Throws: `corrupt` if the numbers of the rebuild are others, or if the journal grew since; then nothing is written.
    static func write(_ content: Content, findings: Int, _ transaction: LedgerTransaction) throws(LedgerStorageError) {
        let connection = transaction.connection
        guard try references(connection) == content.references, try isNumbered(connection, as: content) else {
            throw LedgerStorageError(
                .corrupt, "the rebuild numbers its rows differently, or the journal grew; stop the server and try again"
            )
        }
        let entitlements = TableDump.all.first { $0.name == "entitlements" }
        let before = try entitlements?.rows(connection) ?? [:]
        for table in tables {
            try connection.execute("DELETE FROM \(table)", [])
            for row in content.tables[table] ?? [] {
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

    /// One event for each customer and product whose entitlement is another one than before.
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

    private static func numbers(_ connection: any LedgerConnection) throws(LedgerStorageError) -> [[[LedgerValue]:
        LedgerValue]]
    {
        var numbers: [[[LedgerValue]: LedgerValue]] = []
        for sql in replaced {
            var known: [[LedgerValue]: LedgerValue] = [:]
            for row in try connection.rows(sql, []) { known[Array(row.values.dropFirst())] = row.values.first }
            numbers.append(known)
        }
        return numbers
    }

    /// Whether what both databases have has the same number in both.
    private static func isNumbered(
        _ connection: any LedgerConnection, as content: Content
    ) throws(LedgerStorageError) -> Bool {
        for (present, rebuilt) in zip(try numbers(connection), content.numbers) {
            for (row, number) in present {
                if let other = rebuilt[row], other != number { return false }
            }
        }
        return true
    }
}
