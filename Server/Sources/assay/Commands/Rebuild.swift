import ArgumentParser
import PurchaseLedger
import TextFormats

/// `assay database rebuild`: computes facts, owners and entitlements again from the journal.
struct Rebuild: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Computes all tables again from the journal, and lists what differs.",
        discussion: """
            The journal and its evidence determine facts, owners, entitlements, orders, balances and keys. This command \
            verifies the evidence again, computes all of these in a temporary database in TMPDIR, and compares. Without \
            --repair nothing in the database is changed. Name the certificates with which the server verifies evidence \
            (--trust, ASSAY_TRUST or server.trust); other evidence counts as refused.

            --repair makes all indexes again, replaces the tables by the rebuild and records that in the journal. Stop the \
            server first. It is \
            refused if the journal or its evidence was changed, or if evidence that was accepted is refused now, because \
            purchases would be lost: restore a backup, or name the certificates.

            Exit status: 0 if nothing differs, or if everything that differed was repaired; 1 if something differs; 2 for \
            wrong usage or I/O.
            """)

    @OptionGroup var options: LedgerDatabaseOptions
    @OptionGroup var trust: LedgerTrustOption

    @Flag(name: .long, help: "Replace the tables by the rebuild if they differ.")
    var repair = false

    func run() async throws {
        try await options.withLedger(repair ? .writing : .auditing, trust: trust) { ledger in
            let report = try await report(on: ledger)
            AuditOutput.write(report)
            if !report.repairedIndexes.isEmpty {
                for finding in report.repairedIndexes {
                    Terminal.write("\(finding.kind.rawValue)  \(finding.detail.printable)\n")
                }
                Terminal.write(
                    "assay: \(counted(report.repairedIndexes.count, "difference of an index was", "differences of indexes were")) repaired\n"
                )
            }
            guard !report.findings.isEmpty else {
                Terminal.write("assay: the tables equal the rebuild\n")
                return
            }
            let others = report.findings.count { !$0.kind.isOfTables }
            guard repair, others == 0 else {
                if repair {
                    Terminal.complain(
                        "nothing was repaired: \(others) findings are about the journal or its evidence; restore a backup,"
                            + " or name the certificates with --trust")
                }
                throw ExitCode.rejected
            }
            Terminal.write("assay: the tables were replaced by the rebuild\n")
        }
    }

    /// Audits or repairs, and shows the progress meanwhile.
    private func report(on ledger: PurchaseLedger) async throws -> AuditReport {
        let bar = AuditBar()
        bar.begin()
        defer { bar.clear() }
        guard repair else { return try await ledger.audit { bar.show($0) } }
        do {
            return try await ledger.repair { bar.show($0) }
        } catch let error as RepairOvertaken {
            bar.clear()
            Terminal.complain("\(error)")
            throw ExitCode.unusable
        }
    }
}
