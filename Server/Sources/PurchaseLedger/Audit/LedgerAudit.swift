public import Foundation
import PurchaseVerification

extension PurchaseLedger {
    /// Compares the journal with its leaves, evidence with its hashes, and the tables with a rebuild from both.
    ///
    /// - Parameter folder: where the rebuild keeps its temporary database.
    public func audit(in folder: URL = FileManager.default.temporaryDirectory) async throws -> AuditReport {
        try await LedgerAudit(ledger: self, folder: folder).run(isRepairing: false)
    }

    /// Audits the ledger and, if nothing but tables differs, replaces them by the rebuild, which the journal records.
    ///
    /// A rebuild from a changed journal or from evidence that is missing or refused would lose purchases, so it is not written.
    ///
    /// - Returns: what was found before.
    public func repair(in folder: URL = FileManager.default.temporaryDirectory) async throws -> AuditReport {
        try await LedgerAudit(ledger: self, folder: folder).run(isRepairing: true)
    }
}

extension PurchaseLedger {
    /// Rebuilds the tables if this release has newer rules than they were computed under. Each entitlement that changes is
    /// listed as the event `corrected`. A release calls it after the migration, before it serves.
    ///
    /// - Returns: the differences; `nil` if the rules are the same.
    public func applyNewRules(
        in folder: URL = FileManager.default.temporaryDirectory
    ) async throws -> AuditReport? {
        let rules = try await database.read(.keys) { try RulesTable(connection: $0).latest() }
        guard let rules, rules < RegisterSettings.rulesVersion else { return nil }
        return try await LedgerAudit(ledger: self, folder: folder).run(isRepairing: true, isOfNewRules: true)
    }
}

/// An audit. It reads in pages, so that the WAL does not grow behind a long transaction.
struct LedgerAudit {
    /// Entries or pieces of evidence in a page.
    private static let page: Int64 = 256

    let ledger: PurchaseLedger
    let folder: URL

    /// Audits the ledger.
    ///
    /// - Parameters:
    ///   - isRepairing: whether differences are mended.
    ///   - isOfNewRules: whether the rules are newer than the tables, so that the rebuild is recorded in any case.
    func run(isRepairing: Bool, isOfNewRules: Bool = false) async throws -> AuditReport {
        let file = folder.appending(path: "assay-rebuild-\(UUID().uuidString).sqlite")
        let rebuilt = try SQLiteDatabase(path: file.path)
        defer {
            for suffix in ["", "-wal", "-shm"] {
                // A temporary file that stays behind harms nothing.
                try? FileManager.default.removeItem(atPath: file.path + suffix)
            }
        }
        var report = AuditReport(entries: 0, evidence: 0, pending: 0, findings: [])
        do {
            try await LedgerMigrations.migrate(rebuilt, now: 0)
            try await rebuilt.write { connection in
                // Erased customers are found by their references.
                _ = try connection.execute("CREATE INDEX customers_by_reference ON customers (reference)", [])
            }
            let erasures = try await ledger.database.read(.lists) { try Erasures(of: $0) }
            try await replay(into: rebuilt, erasures, &report)
            try await checkEvidence(erasures, &report)
            try await compare(rebuilt, &report)
            let differences = report.findings.count { $0.kind.isOfTables }
            if isRepairing, differences == report.findings.count, differences > 0 || isOfNewRules {
                let content = try await rebuilt.read(.lists) { try LedgerRepair.content($0) }
                try await ledger.perform(Repair(content: content, findings: differences))
            }
        } catch {
            try await rebuilt.close()
            throw error
        }
        try await rebuilt.close()
        return report
    }

    /// Writes a rebuild.
    private struct Repair: LedgerOperation {
        let content: LedgerRepair.Content
        let findings: Int

        func perform(_ transaction: LedgerTransaction) throws {
            try LedgerRepair.write(content, findings: findings, transaction)
        }
    }

    /// Reads the journal in pages, checks each entry, and applies it to the rebuild.
    private func replay(
        into rebuilt: SQLiteDatabase, _ erasures: Erasures, _ report: inout AuditReport
    ) async throws {
        var last: Int64 = 0
        var registry = Registry(apps: [])
        while true {
            let page = try await readPage(after: last, erasures)
            guard let end = page.rows.last?.row.key else { break }
            last = end
            report.entries += page.rows.count
            report.findings += page.findings
            let (start, verifier) = (registry, ledger.verifier)
            let findings: [AuditFinding]
            (registry, findings) = try await rebuilt.write { connection in
                var replay = JournalReplay(
                    connection: connection, verifier: verifier, erasures: erasures, registry: start)
                for (row, evidence) in page.rows { try replay.apply(row, evidence: evidence) }
                return (replay.registry, replay.findings)
            }
            report.findings += findings
        }
    }

    private struct Page: Sendable {
        var rows: [(row: JournalRow, evidence: ReplayedEvidence?)] = []
        var findings: [AuditFinding] = []
    }

    private func readPage(after key: Int64, _ erasures: Erasures) async throws -> Page {
        try await ledger.database.read(.lists) { connection in
            var page = Page()
            let names = Dictionary(
                uniqueKeysWithValues: try AppsTable(connection: connection).all().map { ($0.key, $0.name) })
            let check = JournalCheck(connection: connection, erasures: erasures)
            for row in try JournalTable(connection: connection).rows(after: key, limit: Self.page) {
                let findings = try check.findings(of: row, apps: names)
                page.findings += findings
                var evidence: ReplayedEvidence?
                if let key = row.evidenceKey, let stored = try EvidenceTable(connection: connection).row(key: key) {
                    // What cannot be read is reported by the check of the evidence.
                    do throws(LedgerStorageError) {
                        let bytes = try EvidenceStore(connection: connection).bytes(stored)
                        evidence = ReplayedEvidence(row: stored, bytes: bytes)
                    } catch {
                        evidence = ReplayedEvidence(row: stored, bytes: nil)
                    }
                }
                // Changed details are no input of a rebuild.
                var row = row
                if findings.contains(where: { $0.kind == .detailsChanged }) { row.details = nil }
                page.rows.append((row, evidence))
            }
            return page
        }
    }

    private func checkEvidence(_ erasures: Erasures, _ report: inout AuditReport) async throws {
        var part: Int64 = 0
        while true {
            let key = part
            let page = try await ledger.database.read(.lists) { connection in
                try JournalCheck(connection: connection, erasures: erasures).evidenceParts(after: key, limit: Self.page)
            }
            report.findings += page.findings
            guard let end = page.last else { break }
            part = end
        }
        var last: Int64 = 0
        while true {
            let key = last
            let page = try await ledger.database.read(.lists) { connection in
                try JournalCheck(connection: connection, erasures: erasures).evidence(after: key, limit: Self.page)
            }
            report.findings += page.findings
            report.evidence += page.count
            guard let end = page.last else { break }
            last = end
        }
        report.pending = Int(
            try await ledger.database.read(.lists) { try LogPendingTable(connection: $0).count() })
    }

    private func compare(_ rebuilt: SQLiteDatabase, _ report: inout AuditReport) async throws {
        for table in TableDump.all {
            let present = try await ledger.database.read(.lists) { try table.rows($0) }
            let expected = try await rebuilt.read(.lists) { try table.rows($0) }
            report.findings += table.findings(ledger: present, rebuilt: expected)
        }
    }
}
