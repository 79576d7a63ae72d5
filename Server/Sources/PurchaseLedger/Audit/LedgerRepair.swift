import PurchaseVerification
import TextFormats

/// Replaces the derived tables of a ledger by those of a rebuild.
///
/// A rebuild numbers its rows from 1. The ledger's numbers differ where the engine left gaps, and after an erasure,
/// which the rebuild reads earlier. Entries and events refer to rows by the ledger's numbers, so each row is identified
/// by its meaning and gets the ledger's number.
struct LedgerRepair {
    /// The compared tables that stay: entries and evidence refer to them by the ledger's numbers, the events of
    /// corrections are in no rebuild, and a claim that waits for the App Store has attempts of its own.
    private static let kept: Set<String> = [
        "apps", "environments", "bundles", "settings_history", "rules", "api_keys", "evidence", "held_evidence",
        "app_store_claims", "events",
    ]

    /// The rows of a rebuild.
    struct Content: Sendable {
        fileprivate var tables: [(pages: TablePages, rows: [LedgerRow])] = []
        fileprivate var identities: RowIdentities
    }

    /// Reads a rebuild.
    static func content(_ rebuilt: any LedgerConnection) throws(LedgerStorageError) -> Content {
        var content = Content(identities: try RowIdentities(rebuilt))
        for table in try StoredTable.all()
        where !ComparedTables.excluded.contains(table.name) && !kept.contains(table.name) {
            let columns = table.columns.joined(separator: ", ")
            content.tables.append(
                (
                    TablePages(table: table, limit: 1),
                    try rebuilt.rows("SELECT \(columns) FROM \(table.name)", [])
                ))
        }
        return content
    }

    /// Replaces the tables, and records the repair.
    ///
    /// - Throws: `RepairOvertaken` if the journal grew in the meantime; `corrupt` if a row that entries refer to is not
    ///   found. Then nothing is written.
    static func write(_ content: Content, findings: Int, _ transaction: LedgerTransaction) throws {
        let connection = transaction.connection
        let known = try RowIdentities(connection)
        if let growth = content.identities.growth(in: known) { throw RepairOvertaken(growth: growth) }
        let numbers = try content.identities.numbers(in: known)
        let entitlements = try ComparedTables.all().first { $0.name == "entitlements" }
        let before = try entitlements?.rows(connection) ?? [:]
        try requireSinglePayments(content, numbers, transaction)
        for (pages, rows) in content.tables {
            let columns = pages.table.columns
            var renumbered: [LedgerRow] = []
            renumbered.reserveCapacity(rows.count)
            for row in rows { renumbered.append(try numbers.renumbered(row, columns)) }
            try connection.execute("DELETE FROM \(pages.table.name)", [])
            try pages.insert(renumbered, most: 1, connection)
        }
        let after = try entitlements?.rows(connection) ?? [:]
        try writeCorrections(before, after, findings, transaction)
    }

    /// Checks that no purchase whose order was fulfilled pays a second order.
    ///
    /// - Throws: `corrupt`; then the difference has to be looked at, because the first order was delivered.
    private static func requireSinglePayments(
        _ content: Content, _ numbers: RowNumbers, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) {
        var paid: [Int64: Int64] = [:]
        for (pages, rows) in content.tables where pages.table.name == OrderRow.table.name {
            let columns = pages.table.columns
            guard let order = columns.firstIndex(of: "order_key"), let payment = columns.firstIndex(of: "paid_by")
            else { continue }
            for row in rows {
                let values = try numbers.renumbered(row, columns).values
                guard case .integer(let order) = values[order], case .integer(let payment) = values[payment]
                else { continue }
                paid[payment] = order
            }
        }
        for order in try transaction.orders.fulfilled() {
            guard let key = order.paidBy, paid[key] != order.key,
                let row = try transaction.transactions.row(key)
            else { continue }
            for copy in try transaction.copies(of: row) {
                guard let other = paid[copy], other != order.key else { continue }
                let name = try transaction.orders.row(key: other)?.id.text ?? "\(other)"
                throw LedgerStorageError(
                    .corrupt,
                    """
                    the repair would pay order \(name) with transaction \(row.transactionID), which paid the fulfilled \
                    order \(order.id.text); nothing was written
                    """)
            }
        }
    }

    /// Records the repair, with one event for each customer and product whose entitlement changed.
    private static func writeCorrections(
        _ before: [[LedgerValue]: [LedgerValue]], _ after: [[LedgerValue]: [LedgerValue]], _ findings: Int,
        _ transaction: LedgerTransaction
    ) throws {
        var corrected: Set<[LedgerValue]> = []
        for key in Set(before.keys).union(after.keys) where !isSame(before[key], after[key]) {
            corrected.insert(key)
        }
        let connection = transaction.connection
        let names = Dictionary(
            try AppsTable(connection: connection).all().map { ($0.key, $0.name) },
            uniquingKeysWith: { first, _ in first })
        var subjects = Corrections.Subjects()
        var events: [(app: RegistryApp, customer: Int64, product: Int64?, environment: Int64?)] = []
        // A row's key begins with the customer's reference, the product with its app, and the environment.
        for subject in Set(corrected.map { Array($0.prefix(4)) }).sorted(by: { "\($0)" < "\($1)" }) {
            guard case .blob(let reference)? = subject.first,
                let customer = try CustomersTable(connection: connection).row(reference: reference),
                let name = names[customer.appKey]
            else { continue }
            let app =
                transaction.registry.app(key: customer.appKey)
                ?? RegistryApp(key: customer.appKey, settings: RegisteredApp(id: name, bundleIDs: []))
            let (product, environment) = (text(subject[2]), text(subject[3]))
            subjects.add(reference, product, environment)
            events.append(
                (
                    app, customer.key,
                    try product.flatMap { id throws(LedgerStorageError) in
                        try transaction.products.key(id, appKey: customer.appKey)
                    },
                    try environment.map { name throws(LedgerStorageError) in
                        try transaction.environments.keyToWrite(of: AppStoreEnvironment(name))
                    }
                ))
        }
        let details = RulesDetails(
            version: SchemaNumber.rules, repair: counted(findings, "finding"), corrections: subjects.count,
            correctionsSHA256: subjects.digest)
        let write = try transaction.append(transaction.draft(nil), details)
        try details.run(write)
        for (app, customer, product, environment) in events {
            let writer = LedgerEvents(transaction, app: app, entry: write.entry)
            var event = writer.event(.corrected)
            (event.productKey, event.environment) = (product, environment)
            try transaction.tell(event, to: customer)
        }
    }

    /// Whether two rows mean the same. Newer rules can store a timeline in another form.
    private static func isSame(_ before: [LedgerValue]?, _ after: [LedgerValue]?) -> Bool {
        guard let before, let after, before.count == after.count else { return before == after }
        return zip(before, after).allSatisfy { before, after in
            if before == after { return true }
            guard case .blob(let before) = before, case .blob(let after) = after else { return false }
            do throws(LedgerStorageError) {
                let timelines = (
                    try AccessTimeline(encoded: before, environment: .production),
                    try AccessTimeline(encoded: after, environment: .production)
                )
                return timelines.0.isSame(as: timelines.1)
            } catch {
                return false
            }
        }
    }

    private static func text(_ value: LedgerValue) -> String? {
        if case .blob(let bytes) = value { String(decoding: bytes, as: UTF8.self) } else { nil }
    }
}
