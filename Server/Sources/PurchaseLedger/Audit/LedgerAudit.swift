public import Foundation
import PurchaseVerification

extension PurchaseLedger {
    /// Compares the journal with its leaves, evidence with its hashes, and the tables with a rebuild from both.
    ///
    /// - Parameters:
    ///   - isVerifyingEvidence: whether all evidence is verified again, and facts, owners and entitlements are computed
    ///     from it.
    ///     Otherwise only the tables that the entries determine without evidence are compared.
    ///   - folder: where the rebuild keeps its temporary database.
    ///   - progress: called after each page of the journal.
    public func audit(
        isVerifyingEvidence: Bool = true, in folder: URL = FileManager.default.temporaryDirectory,
        progress: @escaping @Sendable (AuditProgress) -> Void = { _ in }
    ) async throws -> AuditReport {
        try await LedgerAudit(
            ledger: underAudit, folder: folder, isVerifyingEvidence: isVerifyingEvidence, progress: progress
        ).run()
    }
}

/// An audit. It reads in pages, so that the WAL does not grow behind a long transaction.
struct LedgerAudit {
    /// Entries or pieces of evidence in a page.
    private static let page: Int64 = 256
    /// A page ends early when its evidence reaches this many bytes: two pages are in memory at a time.
    private static let pageBytes = 16 << 20
    /// The findings that are kept; the rest are only counted.
    private static let findings = 10_000
    /// Indexes of a rebuild by which only lists of an app find rows.
    private static let unusedIndexes = [
        "journal_accepted", "journal_rejected", "journal_by_code", "journal_refusals", "journal_not_confirmed",
        "orders_by_app", "orders_by_status", "events_by_app",
    ]

    let ledger: PurchaseLedger
    let folder: URL
    var isVerifyingEvidence = true
    /// The file that is kept; `nil` for none.
    var keptPath: String?
    /// The file to which the fold of all leaves is written before it replaces that one.
    var nextPath: String?
    /// The file to which a whole audit writes its fold from time to time.
    var partialPath: String?
    /// How many entries a fold grows, at least, before it is written there again.
    var partEntries: Int64 = .max
    /// Whether the fold of an earlier audit is continued.
    private var isContinued = false
    var progress: @Sendable (AuditProgress) -> Void = { _ in }

    init(
        ledger: PurchaseLedger, folder: URL, isVerifyingEvidence: Bool = true,
        progress: @escaping @Sendable (AuditProgress) -> Void
    ) {
        (self.ledger, self.folder, self.progress) = (ledger, folder, progress)
        self.isVerifyingEvidence = isVerifyingEvidence
    }

    /// Audits what is new since a kept fold, or the ledger if there is none or an erasure came since.
    ///
    /// - Parameter begun: the fold of a whole audit that was interrupted.
    func run(from kept: KeptFold?, begun: KeptFold?) async throws -> AuditReport {
        guard let kept else { return try await run(begun) }
        defer { KeptFold.remove(kept.file) }
        var audit = self
        (audit.isContinued, audit.partialPath) = (true, nil)
        do {
            return try await audit.run(kept.file) { fold, report in
                try await audit.goOn(fold, kept, &report)
            }
        } catch is KeptFold.Ended {
            // The file has what was erased.
            if let keptPath { KeptFold.remove(keptPath) }
            return try await run()
        }
    }

    /// Audits the ledger.
    ///
    /// - Parameters:
    ///   - begun: the fold with which it goes on.
    ///   - body: called with the rebuild and the report before the rebuild is deleted.
    func run(
        _ begun: KeptFold? = nil,
        _ body: (_ rebuilt: SQLiteDatabase, Erasures, AuditReport) async throws -> Void = { _, _, _ in }
    ) async throws -> AuditReport {
        let file = begun?.file ?? folder.appending(path: "assay-rebuild-\(UUID().uuidString).sqlite").path
        defer { KeptFold.remove(file) }
        return try await run(file) { try await compareAll($0, file, from: begun, &$1, body) }
    }

    private func run(
        _ file: String, _ body: (SQLiteDatabase, inout AuditReport) async throws -> Void
    ) async throws -> AuditReport {
        let rebuilt = try SQLiteDatabase(path: file)
        var report = AuditReport(entries: 0, evidence: 0, pending: 0, findings: [])
        do {
            // The file is not needed after a crash.
            try await rebuilt.set("synchronous", to: "OFF")
            try await body(rebuilt, &report)
        } catch {
            try await rebuilt.close()
            throw error
        }
        try await rebuilt.close()
        return report
    }

    /// Folds the entries since those of a kept fold, and compares the rows that they touch.
    private func goOn(_ fold: SQLiteDatabase, _ kept: KeptFold, _ report: inout AuditReport) async throws {
        report.since = kept.checkpoint.size
        do {
            let erasures = try await fold.read(.lists) { try Erasures(of: $0) }
            try await replay(into: fold, kept.file, from: (kept.position, kept.state), erasures, &report)
            let touched = try await TouchedRows(fold: fold, ledger: ledger.database).findings()
            add(touched.findings, to: &report)
            (report.originals, report.customers) = (touched.originals, touched.customers)
        } catch {
            guard AuditFinding.isFinding(error) else { throw error }
            add([AuditFinding(kind: .auditIncomplete, detail: "\(error)")], to: &report)
        }
    }

    /// Folds all entries, and compares all tables.
    private func compareAll(
        _ rebuilt: SQLiteDatabase, _ file: String, from begun: KeptFold?, _ report: inout AuditReport,
        _ body: (_ rebuilt: SQLiteDatabase, Erasures, AuditReport) async throws -> Void
    ) async throws {
        try await compareSchema(&report)
        async let indexes = IndexAudit(database: ledger.database).findings()
        if begun == nil { try await Self.create(rebuilt) }
        var erasures = Erasures()
        do {
            erasures = try await ledger.database.read(.lists) { try Erasures(of: $0) }
            async let checked = checkEvidence(erasures)
            let start = begun.map { ($0.position, $0.state) } ?? (ReplayEntries.Position(), ReplayState())
            report.entries = Int(begun?.checkpoint.size ?? 0)
            try await replay(into: rebuilt, file, from: start, erasures, &report)
            let evidence = try await checked
            add(evidence.findings, to: &report)
            report.evidence = evidence.count
            report.omitted += evidence.omitted
            // Before the tables, whose differences can be so many that later findings are only counted.
            if isVerifyingEvidence { add(try await RuleAudit(rebuilt).findings(), to: &report) }
            try await compare(rebuilt, erasures, &report)
        } catch {
            guard AuditFinding.isFinding(error) else { throw error }
            add([AuditFinding(kind: .auditIncomplete, detail: "\(error)")], to: &report)
        }
        add(try await indexes, to: &report)
        try await body(rebuilt, erasures, report)
    }

    /// Creates the tables of a rebuild.
    private static func create(_ rebuilt: SQLiteDatabase) async throws {
        try await LedgerMigrations.migrate(rebuilt, now: 0)
        try await rebuilt.write { connection in
            // A replay reads none of the lists of an app, so it needs not write their indexes.
            for index in unusedIndexes {
                _ = try connection.execute("DROP INDEX IF EXISTS \(index)", [])
            }
            // An erasure refers to customers by reference.
            _ = try connection.execute("CREATE INDEX customers_by_reference ON customers (reference)", [])
            // The comparison with the rules reads the entitlements of one original at a time.
            _ = try connection.execute("CREATE INDEX entitlements_by_ground ON entitlements (ground)", [])
            // A replay notes the order and the transaction of a claim after it was applied.
            _ = try connection.execute("DROP TRIGGER journal_no_update", [])
        }
    }

    private static func unread(_ row: JournalRow, _ error: any Error) -> AuditFinding {
        AuditFinding(kind: .auditIncomplete, detail: "entry \(row.key): \(error)")
    }

    private func compareSchema(_ report: inout AuditReport) async throws {
        let found = SchemaComparison(dialect: ledger.database.dialect)
        let (present, surroundings) = try await ledger.database.read(.lists) { connection in
            (try found.definitions(connection), try found.surroundings(connection))
        }
        add(surroundings, to: &report)
        do {
            var definitions = try await SchemaComparison.expected(ledger.database)
            if definitions == nil {
                definitions = try SQLiteDatabase.withTemporary { connection, dialect in
                    try LedgerMigrations.create(connection, dialect)
                    return try SchemaComparison(dialect: dialect).definitions(connection)
                }
            }
            add(found.findings(present, expected: definitions ?? [:]), to: &report)
        } catch let error as LedgerStorageError where error.kind == .other {
            // A role that does not own the tables may be unable to create another schema.
            let detail =
                "the schema was not compared; run the audit as the role that owns the tables (\(error.detail))"
            add([AuditFinding(kind: .auditIncomplete, detail: detail)], to: &report)
        }
    }

    /// Reads the journal in pages, checks each entry, and applies it to the rebuild. Meanwhile the evidence of the next
    /// page is verified on all processors.
    private func replay(
        into rebuilt: SQLiteDatabase, _ file: String,
        from former: (ReplayEntries.Position, ReplayState),
        _ erasures: Erasures, _ report: inout AuditReport
    ) async throws {
        let total = try await ledger.database.read(.lists) { try JournalTable(connection: $0).last() }
        var (position, state) = former
        var unsaved = nextPath
        var page = try await readPage(after: position, erasures)
        func save() async throws {
            guard let path = unsaved else { return }
            unsaved = nil
            try await keep(at: path)
        }
        func keep(at path: String) async throws {
            try await KeptFold.save(
                rebuilt, file, at: path, size: position.leaf + 1, last: state.order.last,
                erasures: erasures.customers.count, of: ledger)
        }
        var kept = position.leaf
        while let end = page.rows.last?.position {
            // Pending entries follow all leaves. They can come in another order later.
            if end.number != nil { try await save() }
            let (start, current, verifier) = (state, page, ledger.verifier)
            let isOfEntriesAlone = !isVerifyingEvidence
            async let following = readPage(after: end, erasures)
            let (after, findings) = try await rebuilt.write { connection in
                var replay = JournalReplay(
                    connection: connection, verifier: verifier, erasures: erasures, state: start,
                    isOfEntriesAlone: isOfEntriesAlone)
                for item in current.rows {
                    do {
                        try replay.apply(item.row, claim: item.claim, evidence: item.evidence, examined: item.examined)
                    } catch {
                        guard AuditFinding.isFinding(error) else { throw error }
                        replay.findings.add(Self.unread(item.row, error))
                    }
                }
                return (replay.state, replay.findings.list)
            }
            (position, state) = (end, after)
            report.entries += page.rows.count
            if isContinued { report.evidence += page.rows.count { $0.examined != nil } }
            add(page.findings + findings, to: &report)
            progress(AuditProgress(done: Int64(report.entries), total: max(total, Int64(report.entries))))
            // What is written again grows with the fold, so all writes together cost as much as a few copies.
            if let partialPath, position.number == nil, report.findings.isEmpty,
                position.leaf - kept >= max(partEntries, kept / 4)
            {
                let part = "\(partialPath).next"
                KeptFold.remove(part)
                do {
                    try await keep(at: part)
                    guard rename(part, partialPath) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
                } catch {
                    // Without a part, an interrupted audit begins anew; the audit itself needs none.
                    KeptFold.remove(part)
                }
                kept = position.leaf
            }
            page = try await following
        }
        try await save()
        report.pending = Int(
            try await ledger.database.read(.lists) { try LogStateTable(connection: $0).pending().count })
    }

    private func add(_ findings: [AuditFinding], to report: inout AuditReport) {
        report.isOfJournal = report.isOfJournal || findings.contains { !$0.kind.isMendedByRebuild }
        let room = max(0, Self.findings - report.findings.count)
        report.findings += findings.prefix(room)
        report.omitted += max(0, findings.count - room)
    }

    private struct Page: Sendable {
        var rows: [Item] = []
        var findings: [AuditFinding] = []

        struct Item: Sendable {
            var row: JournalRow
            var position: ReplayEntries.Position
            /// The decoded details of a claim.
            var claim: ClaimDetails?
            var evidence: ReplayedEvidence?
            var examined: ExaminedEvidence?
        }
    }

    private func readPage(
        after position: ReplayEntries.Position, _ erasures: Erasures
    ) async throws -> Page {
        let (isVerifyingEvidence, isContinued) = (isVerifyingEvidence, isContinued)
        var page = try await ledger.database.read(.lists) { connection in
            var page = Page()
            var bytes = 0
            let names = Dictionary(
                uniqueKeysWithValues: try AppsTable(connection: connection).all().map { ($0.key, $0.name) })
            let check = JournalCheck(connection: connection, erasures: erasures)
            let entries = ReplayEntries(connection: connection)
            for entry in try entries.page(after: position, limit: Int(Self.page)) {
                var row = entry.row
                if isContinued, row.kind == Int64(JournalKind.customerErased.rawValue) { throw KeptFold.Ended() }
                var checked = JournalCheck.Entry()
                do {
                    try check.check(row, apps: names, &checked)
                } catch {
                    guard AuditFinding.isFinding(error) else { throw error }
                    checked.findings = [Self.unread(row, error)]
                }
                page.findings += checked.findings
                var evidence: ReplayedEvidence?
                if let stored = checked.evidence {
                    // A whole audit checks all evidence beside this, and reports what cannot be read.
                    if isContinued { page.findings += check.evidence([stored]) }
                    do throws(LedgerStorageError) {
                        let bytes =
                            isVerifyingEvidence ? try EvidenceStore(connection: connection).bytes(stored) : nil
                        evidence = ReplayedEvidence(row: stored, bytes: bytes)
                    } catch {
                        evidence = ReplayedEvidence(row: stored, bytes: nil)
                    }
                }
                // Changed details are not used in a rebuild.
                if checked.findings.contains(where: { $0.kind == .detailsChanged }) { row.details = nil }
                page.rows.append(
                    Page.Item(row: row, position: entry.position, claim: checked.claim, evidence: evidence))
                bytes += evidence?.bytes?.count ?? 0
                if bytes > Self.pageBytes { break }
            }
            return page
        }
        await examine(&page)
        return page
    }

    /// Verifies the evidence of a page on all processors.
    private func examine(_ page: inout Page) async {
        let pieces = page.rows.map { $0.evidence?.bytes }
        for (index, examined) in await EvidenceExaminer(verifier: ledger.verifier).examine(pieces).enumerated() {
            page.rows[index].examined = examined
        }
    }

    /// The result of the check of all evidence.
    private struct CheckedEvidence: Sendable {
        var findings: [AuditFinding] = []
        var omitted = 0
        var count = 0

        mutating func add(_ found: [AuditFinding]) {
            let room = max(0, LedgerAudit.findings - findings.count)
            findings += found.prefix(room)
            omitted += max(0, found.count - room)
        }
    }

    /// Compares all evidence with its hashes. It needs nothing of the replay, so it runs beside it.
    private func checkEvidence(_ erasures: Erasures) async throws -> CheckedEvidence {
        var checked = CheckedEvidence()
        var part: Int64 = 0
        while true {
            let key = part
            let page = try await ledger.database.read(.lists) { connection in
                try JournalCheck(connection: connection, erasures: erasures).evidenceParts(after: key, limit: Self.page)
            }
            checked.add(page.findings)
            guard let end = page.last else { break }
            part = end
        }
        var last: Int64 = 0
        while true {
            let key = last
            let page = try await ledger.database.read(.lists) { connection in
                try JournalCheck(connection: connection, erasures: erasures).evidence(after: key, limit: Self.page)
            }
            checked.add(page.findings)
            checked.count += page.count
            guard let end = page.last else { break }
            last = end
        }
        return checked
    }

    private func compare(
        _ rebuilt: SQLiteDatabase, _ erasures: Erasures, _ report: inout AuditReport
    ) async throws {
        for table in try isVerifyingEvidence ? ComparedTables.all() : ComparedTables.ofEntries() {
            var (findings, unexamined) = try await TableComparison(
                table: table, ledger: ledger.database, rebuilt: rebuilt
            ).findings()
            // A product may have been known only from evidence of an erased customer.
            if table.name == "products", !erasures.customers.isEmpty { findings.removeAll { $0.kind != .rowMissing } }
            add(findings, to: &report)
            report.omitted += unexamined
        }
    }
}
