import ArgumentParser
import PurchaseLedger

/// `assay audit verify`.
struct VerifyAudit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Compares the journal with its hashes, and the tables with the journal.",
        discussion: """
            It compares each journal entry with its leaf, each piece of evidence with its SHA-256, and every table with a \
            rebuild: all evidence is verified again, and facts, owners and entitlements are computed again. The rebuild is a \
            temporary database in TMPDIR. The server may run meanwhile, but what it writes during the audit can be listed as \
            a difference; stop it for a final answer.

            Exit status: 0 if everything agrees, 1 if there are findings, 2 for wrong usage or I/O.
            """)

    @OptionGroup var options: LedgerDatabaseOptions
    @OptionGroup var trust: LedgerTrustOption

    func run() async throws {
        try await options.withLedger(trust: trust) { ledger in
            let report = try await ledger.audit()
            AuditOutput.write(report)
            guard report.findings.isEmpty else { throw ExitCode.rejected }
            Terminal.write("assay: the journal, its evidence and the tables agree\n")
        }
    }
}
