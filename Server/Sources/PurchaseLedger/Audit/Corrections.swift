import Crypto
import PurchaseVerification

/// Compares the events `corrected` with the entries that wrote them. A rebuild cannot compute these events again: they
/// are the differences to tables that a repair replaced.
///
/// Each names a `rules` entry of a repair, and a customer and a product that the rebuild has. The entry has their
/// number and their hash, so none can be added, changed or removed.
struct Corrections {
    private static let page = 1024

    let ledger: any LedgerDatabase
    let rebuilt: SQLiteDatabase
    let erasures: Erasures

    /// The customers, products and environments of a repair, in the order of their events.
    struct Subjects {
        private(set) var count: Int64 = 0
        private var hash = SHA256()

        /// The hash of all of them.
        var digest: String { Array(hash.finalize()).hexadecimal }

        mutating func add(_ customer: [UInt8], _ product: String?, _ environment: String?) {
            count += 1
            hash.update(data: customer)
            for text in [product, environment] { hash.update(data: Array((text ?? "").utf8) + [0xFF]) }
        }
    }

    /// - Parameter knowsProducts: whether the rebuild has the products of evidence.
    func findings(knowsProducts: Bool) async throws -> [AuditFinding] {
        var findings: [AuditFinding] = []
        var (subjects, last): ([Int64: Subjects], Int64?) = ([:], 0)
        let repairs = try await repairs()
        while let after = last {
            let page = try await ledger.read(.lists) { try Self.events(after: after, $0) }
            let known = try await rebuilt.read(.lists) { connection in
                try page.map { try isKnown($0, knowsProducts: knowsProducts, connection) }
            }
            for (event, isKnown) in zip(page, known) {
                subjects[event.entry, default: Subjects()].add(event.customer ?? [], event.product, event.environment)
                if repairs[event.entry] == nil {
                    findings.append(Self.finding(event, "names no repair"))
                } else if !event.isPlain {
                    findings.append(Self.finding(event, "has a content that no repair writes"))
                } else if !isKnown {
                    findings.append(
                        Self.finding(event, "names a customer, a product or an environment that a rebuild lacks"))
                }
            }
            last = page.count < Self.page ? nil : page.last?.key
        }
        // An erasure removes the events of its customers.
        guard erasures.customers.isEmpty else { return findings }
        for (entry, details) in repairs.sorted(by: { $0.key < $1.key }) {
            guard let stated = details.corrections else { continue }
            let found = subjects[entry] ?? Subjects()
            guard found.count != stated || !found.digest.isSame(as: details.correctionsSHA256) else { continue }
            findings.append(
                AuditFinding(
                    kind: found.count < stated ? .rowMissing : .rowUnknown,
                    detail: "events corrected: entry \(entry) wrote \(stated), and there are \(found.count) or others"))
        }
        return findings
    }

    /// The entries of repairs. Details that differ from their leaf have a finding of their own.
    private func repairs() async throws -> [Int64: RulesDetails] {
        try await ledger.read(.lists) { connection in
            var repairs: [Int64: RulesDetails] = [:]
            for row in try JournalTable(connection: connection).rows(kind: Int64(JournalKind.rules.rawValue)) {
                guard let leaf = JournalLeaf(bytes: row.leaf), leaf.kind == .rules, let salt = row.salt,
                    let content = row.details, Journal.digest(salt: salt, details: content) == leaf.details
                else { continue }
                let details = try RulesDetails(encoded: content)
                if details.repair != nil { repairs[row.key] = details }
            }
            return repairs
        }
    }

    private struct Event: Sendable {
        let key: Int64
        let entry: Int64
        let app: String?
        let customer: [UInt8]?
        let product: String?
        let environment: String?
        /// Whether it has only these, and figures that say nothing.
        let isPlain: Bool
    }

    private static func events(after key: Int64, _ connection: any LedgerConnection) throws -> [Event] {
        var events: [Event] = []
        for row in try connection.rows(
            """
            SELECT events.event_key, events.entry_key, apps.name, customers.reference, products.product_id,
                environments.name, events.figures,
                CASE WHEN events.former_key IS NULL AND events.transaction_key IS NULL AND events.original_key IS NULL
                    AND events.order_key IS NULL THEN 1 ELSE 0 END
            FROM events LEFT JOIN apps ON apps.app_key = events.app_key
            LEFT JOIN customers ON customers.customer_key = events.customer_key
            LEFT JOIN products ON products.product_key = events.product_key
            LEFT JOIN environments ON environments.environment_key = events.environment
            WHERE events.type = 'corrected' AND events.event_key > ?1 ORDER BY events.event_key LIMIT ?2
            """, [.integer(key), .integer(Int64(page))])
        {
            var reader = row.reader
            let (key, entry) = (try reader.integer(), try reader.integer())
            let (app, customer) = (try reader.optionalText(), try reader.optionalBlob())
            let (product, environment) = (try reader.optionalText(), try reader.optionalText())
            let (figures, hasRest) = (try reader.blob(), try reader.integer() == 0)
            events.append(
                Event(
                    key: key, entry: entry, app: app, customer: customer, product: product, environment: environment,
                    isPlain: !hasRest && figures == EventFigures().encoded))
        }
        return events
    }

    private func isKnown(
        _ event: Event, knowsProducts: Bool, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> Bool {
        guard let app = event.app, let customer = event.customer, let product = event.product,
            let environment = event.environment
        else { return false }
        // The rebuild knows nothing that only erased evidence named.
        guard erasures.customers.isEmpty else { return true }
        let hasCustomer = try !connection.rows(
            """
            SELECT 1 FROM customers JOIN apps ON apps.app_key = customers.app_key
            WHERE customers.reference = ?1 AND apps.name = ?2
            """, [.blob(customer), .text(app)]
        ).isEmpty
        guard hasCustomer, knowsProducts else { return hasCustomer }
        return try !connection.rows(
            """
            SELECT 1 FROM products JOIN apps ON apps.app_key = products.app_key, environments
            WHERE products.product_id = ?1 AND apps.name = ?2 AND environments.name = ?3
            """, [.text(product), .text(app), .text(environment)]
        ).isEmpty
    }

    private static func finding(_ event: Event, _ reason: String) -> AuditFinding {
        AuditFinding(kind: .rowUnknown, detail: "events corrected \(event.key): \(reason)")
    }
}
