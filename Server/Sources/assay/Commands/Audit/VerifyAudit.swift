import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseServer

/// `assay audit verify`.
struct VerifyAudit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract:
            "Compares the log with its checkpoints, the journal with its hashes, and the tables with the journal.",
        discussion: """
            It computes the Merkle log again and compares it with checkpoints: those of --checkpoint, and the last one that this \
            server signed. It checks the code of every entry under the key of entries (--entry-key), every index against its \
            table, the schema with its unique keys and triggers, each entry with its leaf, each piece of evidence with its \
            SHA-256, and the tables \
            that entries alone determine, such as keys, customers, tokens and orders.

            With --evidence it verifies all evidence again on all processors, computes facts, owners, entitlements and \
            events from it in a temporary database in TMPDIR, and compares every table. Name the certificates with which \
            the server verifies (--trust, ASSAY_TRUST or server.trust); other evidence counts as refused. The server may \
            run meanwhile, but its writes during the audit can be listed as differences.

            Entries that wait for the log are not a finding. Exit status: 0 if everything agrees, 1 if there are findings, \
            2 for wrong usage or I/O.
            """)

    @OptionGroup var options: LedgerDatabaseOptions
    @OptionGroup var signing: SigningKeyOption
    @OptionGroup var trust: LedgerTrustOption

    @Option(name: .long, help: "A file with a checkpoint that the log must agree with. Repeat for several.")
    var checkpoint: [String] = []

    @OptionGroup var keys: LogKeyOption

    @Flag(name: .long, help: "Verify all evidence again, and compute facts and entitlements from it.")
    var evidence = false

    func run() async throws {
        let keys = try signing.keys(options)
        let checkpoints = try checkpoints(keys)
        try await options.withLedger(.auditing, trust: trust) { ledger in
            let log = try await ledger.auditLog(checkpoints.map(\.checkpoint))
            AuditOutput.write(log, checkpoints: checkpoints.count, entryKeyFile: keys.entryKeyFile)
            let bar = AuditBar()
            let report = try await ledger.audit(isVerifyingEvidence: evidence) { bar.show($0) }
            bar.clear()
            AuditOutput.write(report)
            guard log.findings.isEmpty, report.findings.isEmpty else { throw ExitCode.rejected }
            Terminal.write(
                evidence
                    ? "assay: the journal, its evidence and the tables agree\n"
                    : "assay: the log, the hashes of the evidence and the tables agree\n")
        }
    }

    /// The checkpoints of the options, and the last one that this server signed.
    private func checkpoints(_ keys: RecordKeys) throws -> [SignedCheckpoint] {
        do {
            let signed = try keys.lastSigned()
            let known = try self.keys.keys(own: signed?.verifier)
            var checkpoints: [SignedCheckpoint] = []
            for path in checkpoint { checkpoints.append(try CheckpointInput.read(path, keys: known)) }
            if let own = signed?.checkpoint { checkpoints.append(own) }
            return checkpoints
        } catch let error as LogError {
            Terminal.complain("\(error)")
            throw error.status
        }
    }
}
