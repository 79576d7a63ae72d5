public import Foundation
import PurchaseVerification

extension PurchaseLedger {
    /// Audits the entries after a checkpoint with their evidence, and compares the purchases, entitlements, lots and
    /// balances that they touched with their evidence and the rules. It needs time in proportion to what is new.
    ///
    /// The log must agree with the checkpoint (`auditLog(_:since:)`).
    ///
    /// - Parameters:
    ///   - checkpoint: the checkpoint.
    ///   - folder: where the facts are computed in a temporary database.
    ///   - progress: called after each page of the log.
    public func audit(
        since checkpoint: Checkpoint, in folder: URL = FileManager.default.temporaryDirectory,
        progress: @escaping @Sendable (AuditProgress) -> Void = { _ in }
    ) async throws -> NewEntriesReport {
        var audit = NewEntriesAudit(ledger: underAudit, since: checkpoint.size, folder: folder, progress: progress)
        return try await audit.run()
    }
}

/// An audit of the entries after a checkpoint.
struct NewEntriesAudit {
    /// The findings that are kept; the rest are only counted.
    static let findings = 1000
    private static let pageEntries: Int64 = 256
    /// Originals that are compared in one read.
    private static let batch = 64

    let ledger: PurchaseLedger
    let folder: URL
    let progress: @Sendable (AuditProgress) -> Void
    private var report: NewEntriesReport
    private var registry = Registry(apps: [])
    private var touched = TouchedRows()
    /// Read once something is missing: they are found only by reading the whole journal.
    private var erasures: Erasures?

    init(
        ledger: PurchaseLedger, since size: Int64, folder: URL, progress: @escaping @Sendable (AuditProgress) -> Void
    ) {
        (self.ledger, self.folder, self.progress) = (ledger, folder, progress)
        report = NewEntriesReport(since: size)
    }

    mutating func run() async throws -> NewEntriesReport {
        do {
            registry = try await ledger.database.read(.lists) { try Registry(recordedIn: $0) }
            try await readEntries()
            try await compareFacts()
            try await compareRules()
        } catch {
            guard AuditFinding.isFinding(error) else { throw error }
            add([AuditFinding(kind: .auditIncomplete, detail: "\(error)")])
        }
        (report.originals, report.customers) = (touched.originals.count, touched.customers.count)
        return report
    }

    private mutating func add(_ findings: [AuditFinding]) {
        let room = max(0, Self.findings - report.findings.count)
        report.findings += findings.prefix(room)
        report.omitted += max(0, findings.count - room)
    }

    // MARK: Entries

    private struct Page: Sendable {
        var items: [Item] = []
        var findings: [AuditFinding] = []
        /// Whether details or evidence are missing, which an erasure explains.
        var isIncomplete = false
        var touched = TouchedRows()
        var last: Int64?

        struct Item: Sendable {
            let row: JournalRow
            let leaf: JournalLeaf
            let evidence: [UInt8]?
        }
    }

    private mutating func readEntries() async throws {
        let total = try await ledger.database.read(.lists) { try LogStateTable(connection: $0).row().size }
        var known: Set<Int64> = []
        var last: Int64? = .min
        // Pending entries first: one that is sealed meanwhile is read again with the log, and none is missed.
        while let after = last {
            let page = try await readPage { connection throws(LedgerStorageError) in
                try ReplayEntries.pending(after: after, limit: Self.pageEntries, connection).map { ($0.key, $0) }
            }
            known.formUnion(page.items.map(\.row.key))
            try await examine(page, besides: [])
            last = page.last
        }
        last = report.since - 1
        while let after = last {
            let page = try await readPage { connection throws(LedgerStorageError) in
                try ReplayEntries(connection: connection).read(after: after, limit: Int(Self.pageEntries))
                    .map { ($0.leaf, $0.row) }
            }
            try await examine(page, besides: known)
            last = page.last
            let done = Int64(report.entries)
            progress(AuditProgress(done: done, total: max(done, total - report.since)))
        }
    }

    /// Reads a page of entries and checks them. If something is missing, the erasures are read, and the page again.
    private mutating func readPage(
        _ rows: @escaping @Sendable (any LedgerConnection) throws(LedgerStorageError) -> [(Int64, JournalRow)]
    ) async throws -> Page {
        let known = erasures
        let page = try await ledger.database.read(.lists) { connection in
            try Self.page(try rows(connection), known ?? Erasures(), connection)
        }
        guard page.isIncomplete, known == nil else { return page }
        erasures = try await ledger.database.read(.lists) { try Erasures(of: $0) }
        return try await readPage(rows)
    }

    private static func page(
        _ rows: [(Int64, JournalRow)], _ erasures: Erasures, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> Page {
        var page = Page()
        var names: [Int64: String] = [:]
        for app in try AppsTable(connection: connection).all() { names[app.key] = app.name }
        let check = JournalCheck(connection: connection, erasures: erasures)
        for (place, row) in rows {
            page.last = place
            var checked = JournalCheck.Entry()
            try check.check(row, apps: names, &checked)
            page.findings += checked.findings
            guard let leaf = JournalLeaf(bytes: row.leaf) else { continue }
            var bytes: [UInt8]?
            let evidence = checked.evidence
            if let evidence {
                do throws(LedgerStorageError) {
                    bytes = try EvidenceStore(connection: connection).bytes(evidence)
                } catch {
                    page.findings.append(AuditFinding(kind: .evidenceChanged, detail: error.detail))
                }
                if evidence.content == nil, !erasures.evidence.contains(evidence.sha256) {
                    page.findings.append(
                        AuditFinding(kind: .missingWithoutErasure, detail: "evidence \(evidence.key)"))
                }
            }
            if row.details == nil || (evidence != nil && evidence?.content == nil) { page.isIncomplete = true }
            page.items.append(Page.Item(row: row, leaf: leaf, evidence: bytes))
            try page.touched.add(row, leaf, connection)
        }
        return page
    }

    /// Verifies the evidence of a page, and notes the originals that it is about.
    ///
    /// - Parameter known: entries that were read before they were sealed.
    private mutating func examine(_ read: Page, besides known: Set<Int64>) async throws {
        add(read.findings)
        var page = read
        page.items.removeAll { known.contains($0.row.key) }
        report.entries += page.items.count
        touched.formUnion(page.touched)
        let (registry, erased) = (registry, erasures)
        let examined = await EvidenceExaminer(verifier: ledger.verifier).examine(
            page.items.map(\.evidence))
        report.evidence += page.items.count { $0.evidence != nil }
        var observed: [(item: Page.Item, observation: Observation)] = []
        for (item, evidence) in zip(page.items, examined) {
            guard let evidence else { continue }
            switch evidence.verified {
            case .failure(let error):
                guard item.leaf.code.isSame(as: DecisionCode.accepted.rawValue), item.leaf.kind != .appStoreAnswer
                else { continue }
                add([
                    AuditFinding(
                        kind: .evidenceRefused,
                        detail:
                            "\(evidence.stored.sha256.hexadecimal) of entry \(item.leaf.id.text): \(error.code.rawValue)"
                    )
                ])
            case .success(let observation):
                guard registry.observer(of: evidence, claimedFor: registry.app(item.leaf.app)) != nil,
                    try TouchedFacts.isObserved(item.row, item.leaf)
                else { continue }
                observed.append((item, observation))
            }
        }
        let pieces = observed
        let (rows, findings) = try await ledger.database.read(.lists) { connection in
            var (rows, findings): (TouchedRows, [AuditFinding]) = (TouchedRows(), [])
            for (item, observation) in pieces {
                let originals = try Self.originals(of: observation, erased, &findings, connection)
                rows.originals.formUnion(originals)
                guard let key = item.row.evidenceKey else { continue }
                for original in originals { rows.evidence[original, default: []].insert(key) }
            }
            return (rows, findings)
        }
        touched.formUnion(rows)
        add(findings)
    }

    /// The originals that evidence is about, and the findings about transactions that it states and that are missing.
    private static func originals(
        of observation: Observation, _ erasures: Erasures?, _ findings: inout [AuditFinding],
        _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> Set<Int64> {
        let environments = EnvironmentsTable(connection: connection)
        var originals: Set<Int64> = []
        for facts in observation.transactionFacts where facts.productID != nil {
            let row = try environments.key(of: facts.key.environment).flatMap {
                environment throws(LedgerStorageError) in
                try TransactionsTable(connection: connection).row(facts.key, environment: environment)
            }
            if let row {
                originals.insert(row.originalKey)
            } else if erasures?.transactions[facts.key] == nil {
                findings.append(
                    AuditFinding(kind: .rowMissing, detail: "transactions \(facts.key.transactionID)"))
            }
        }
        for key in observation.renewals.map(\.key) + observation.statuses.map(\.key) {
            guard let environment = try environments.key(of: key.environment) else { continue }
            for row in try OriginalsTable(connection: connection)
                .rows(id: key.originalTransactionID.string, environment: environment)
            {
                originals.insert(row.key)
            }
        }
        return originals
    }

    // MARK: Rows

    /// Computes the facts of the originals from their evidence, and compares them.
    private mutating func compareFacts() async throws {
        let file = folder.appending(path: "assay-facts-\(UUID().uuidString).sqlite")
        let scratch = try SQLiteDatabase(path: file.path)
        defer {
            for suffix in ["", "-wal", "-shm"] {
                // A leftover temporary file does no harm.
                try? FileManager.default.removeItem(atPath: file.path + suffix)
            }
        }
        do {
            try await scratch.set("synchronous", to: "OFF")
            try await LedgerMigrations.migrate(scratch, now: 0)
            for batch in batches(of: touched.originals) {
                let (evidence, registry) = (touched.evidence, registry)
                let facts = try await ledger.database.read(.lists) { connection in
                    try TouchedFacts(of: batch, evidence, connection)
                }
                touched.customers.formUnion(facts.customers)
                let examined = await EvidenceExaminer(verifier: ledger.verifier).examine(facts.pieces)
                let findings = try await scratch.write { connection in
                    try facts.findings(examined, registry, connection)
                }
                add(findings)
            }
        } catch {
            try await scratch.close()
            throw error
        }
        try await scratch.close()
    }

    /// Compares owners, entitlements, lots and balances with the rules.
    private mutating func compareRules() async throws {
        let customers = touched.customers
        for (kind, keys) in [(RuleAuditPage.Kind.originals, touched.originals), (.customers, customers)] {
            for batch in batches(of: keys) {
                let findings = try await ledger.database.read(.lists) { connection in
                    var page = RuleAuditPage(connection, isOfWholeTables: false)
                    try page.check(kind, batch.map { [$0] })
                    return page.findings
                }
                add(findings)
            }
        }
        for batch in batches(of: customers) {
            let findings = try await ledger.database.read(.lists) { connection in
                var page = RuleAuditPage(connection, isOfWholeTables: false)
                for customer in batch {
                    let grants = try HandGrantsTable(connection: connection).rows(of: customer).map { [$0.key] }
                    try page.check(.grants, grants)
                    let rows = try EntitlementRow.all("WHERE customer_key = ?1", [.integer(customer)], connection)
                    try page.check(.rows, rows.map { [$0.customerKey, $0.productKey, $0.environment, $0.ground] })
                }
                return page.findings
            }
            add(findings)
        }
    }

    private func batches(of keys: Set<Int64>) -> [[Int64]] {
        let sorted = keys.sorted()
        return stride(from: 0, to: sorted.count, by: Self.batch).map {
            Array(sorted[$0..<min($0 + Self.batch, sorted.count)])
        }
    }
}
